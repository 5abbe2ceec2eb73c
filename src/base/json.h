// JSON files: read with bounds, written atomically.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace edelta::base {

// InputError, with the source's name, for what is not JSON, for a key that occurs twice in one
// object (nlohmann::json alone keeps one of them silently) and for nesting deeper than 64.
nlohmann::json parse_json(std::string_view text, const std::string& source);

// At most 64 MiB.
nlohmann::json read_json(const std::filesystem::path& path);

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json);

// JSON as text; a string that is not UTF-8 (the name of a file may not be) gets replacement
// characters.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

// The object with a checksum of the rest of it under "checksum": layout and order do not matter,
// every value does.
nlohmann::ordered_json sealed(nlohmann::ordered_json object);
// InputError where the checksum is missing or differs.
void require_seal(const nlohmann::json& object, const std::string& source);

}  // namespace edelta::base
