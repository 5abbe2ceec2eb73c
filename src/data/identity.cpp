#include "edelta/data/identity.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/checksum.h"
#include "base/input_file.h"
#include "base/required_fields.h"
#include "data/dataset_files.h"
#include "data/puzzles/puzzle_files.h"
#include "data/token_files.h"
#include "edelta/base/error.h"
#include "edelta/data/puzzle_data.h"
#include "edelta/data/tokens.h"

namespace edelta::data {

namespace fs = std::filesystem;

namespace {

// A user's own data has no description, tokens of another program no tokenizer, and puzzles neither
// names nor tasks.
bool may_be_absent(const std::string& name) {
  return name == kTaskFile || name == kTokenizerFile || name == kTextFile ||
         name == kIdentifiersFile || name == kTestPuzzlesFile;
}

std::set<std::string> files_in(const fs::path& folder) {
  if (is_token_folder(folder)) return token_files();
  return is_puzzle_folder(folder) ? puzzle_files(folder) : dataset_files();
}

}  // namespace

Identity identify(const fs::path& folder) {
  Identity identity;
  for (const std::string& name : files_in(folder)) {
    const fs::path file = folder / name;
    if (may_be_absent(name) && !base::is_there(file)) continue;
    identity[name] = identify_file(file);
  }
  return identity;
}

FileIdentity identify_file(const fs::path& file) {
  const std::string sum = base::checksum_of_file(file);
  return {fs::file_size(file), sum};
}

void require_identity(const fs::path& folder, const Identity& expected, const std::string& remedy) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(fmt::format("{}: {}; {}", folder.string(), what, remedy));
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
