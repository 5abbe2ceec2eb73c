// Which data it was: so that a run is not continued or evaluated with other data than its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace edelta::data {

struct FileIdentity {
  std::uint64_t bytes = 0;
  std::string checksum;
  bool operator==(const FileIdentity&) const = default;
};

// The files of a data folder by name.
using Identity = std::map<std::string, FileIdentity>;

// Of the files that read_dataset() or read_token_dataset() reads; InputError where sequences or
// tokens are missing.
Identity identify(const std::filesystem::path& folder);
FileIdentity identify_file(const std::filesystem::path& file);

// InputError that names the first file of `folder` that is missing or differs, and the remedy.
void require_identity(const std::filesystem::path& folder, const Identity& expected,
                      const std::string& remedy = "say with --data where the run's data is now");

nlohmann::ordered_json identity_to_json(const Identity& identity);
// InputError that names `source` and the key.
Identity identity_from_json(const nlohmann::json& json, const std::string& source);

}  // namespace edelta::data
