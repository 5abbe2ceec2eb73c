// How configurations are read from JSON, for runs of both kinds of models.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edelta/base/error.h"
#include "edelta/train/config.h"

namespace edelta::train {

inline void require(bool holds, const std::string& message) {
  if (!holds) throw InputError(message);
}

// The object below a key, with the fields' own keys; a string stands for {`key`: string}.
nlohmann::json config_section(const nlohmann::json& given, const char* key,
                              const std::vector<Field>& fields);

std::string text_at(const nlohmann::json& object, const char* key, const std::string& otherwise);

// The settings in `base` that `over` does not give, and those of `over`.
nlohmann::json merged(nlohmann::json base, const nlohmann::json& over);

// A short run warms up for a part of it only, unless it is told how long.
void scale_warmup(Protocol& protocol);

void validate(const Protocol& protocol);

// The fields that have a flag; what is not among `defaults` depends on the model or the data.
void add_settings(const char* section, const std::vector<Field>& fields,
                  const nlohmann::ordered_json& defaults, std::vector<Setting>& all);

// Of a recursive run (recursive_config.cpp).
TrainConfig read_recursive_config(const nlohmann::json& given);
void validate_recursive(const TrainConfig& config);
nlohmann::ordered_json recursive_to_json(const TrainConfig& config);

}  // namespace edelta::train
