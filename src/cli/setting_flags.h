// Flags made from the fields of a configuration.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "edelta/base/json_fields.h"

namespace edelta::cli {

// A flag's text as the JSON value it stands for: a number, a list, true, or else a word.
nlohmann::json value_of(const std::string& text);

// The flag for a field, whose value goes into `into`[field.key]; `into` must outlive the command.
// It may have another name.
CLI::Option* add_field_flag(CLI::App& command, const Field& field, nlohmann::json& into,
                            const std::string& other_name = {});

}  // namespace edelta::cli
