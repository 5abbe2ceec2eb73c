#include "edelta/data/identity.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/checksum.h"
#include "base/required_fields.h"
#include "data/dataset_files.h"
#include "edelta/base/error.h"

namespace edelta::data {

namespace fs = std::filesystem;

Identity identify(const fs::path& folder) {
  Identity identity;
  for (const std::string& name : dataset_files()) {
    const fs::path file = folder / name;
    std::error_code error;
    // A user's own data has no task.json.
    if (name == kTaskFile && !fs::exists(file, error)) continue;
    const std::string sum = base::checksum_of_file(file);
    identity[name] = {fs::file_size(file), sum};
  }
  return identity;
}

void require_identity(const fs::path& folder, const Identity& expected) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(
        fmt::format("{}: {}; say with --data where the run's data is now", folder.string(), what));
  };
  std::error_code error;
  if (!fs::is_directory(folder, error)) refuse("the run's data is not there");
  for (const auto& [name, was] : expected) {
    if (!fs::exists(folder / name, error)) refuse(fmt::format("{} is not there", name));
  }
  const Identity found = identify(folder);
  for (const auto& [name, is] : found) {
    const auto was = expected.find(name);
    if (was == expected.end() || was->second != is) {
      refuse(fmt::format("{} is not what the run was trained on", name));
    }
  }
}

nlohmann::ordered_json identity_to_json(const Identity& identity) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, file] : identity) {
    json[name] = {{"bytes", file.bytes}, {"checksum", file.checksum}};
  }
  return json;
}

Identity identity_from_json(const nlohmann::json& json, const std::string& source) {
  Identity identity;
  with_source(source, [&] {
    require_object(json, "data_files");
    for (const auto& [name, file] : json.items()) {
      identity[name] = {base::required<std::uint64_t>(file, "bytes"),
                        base::required<std::string>(file, "checksum")};
    }
  });
  return identity;
}

}  // namespace edelta::data
