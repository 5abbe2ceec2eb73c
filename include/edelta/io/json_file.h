// JSON files, read with bounds and written atomically.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace edelta::io {

// InputError with the path and the reason; nesting deeper than 64 levels is refused.
nlohmann::json read_json(const std::filesystem::path& path);

void write_json(const std::filesystem::path& path, const nlohmann::ordered_json& json);

// Creates a folder and its parents; Failure with the path and the reason.
void make_folder(const std::filesystem::path& folder);

}  // namespace edelta::io
