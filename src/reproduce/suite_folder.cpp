#include "reproduce/suite_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "edelta/base/error.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/suite_preset.h"

namespace edelta::reproduce {
namespace {

constexpr const char* kFormat = "edelta-suite-1";

template <class T>
void add_new(std::vector<T>& list, const std::vector<T>& more) {
  for (const T& item : more) {
    if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
  }
}

}  // namespace

SuiteManifest SuiteFolder::read_manifest() const {
  if (!exists()) {
    throw InputError(
        fmt::format("{}: no results are there (it has no suite.json); edelta reproduce "
                    "makes them",
                    path_.string()));
  }
  const nlohmann::json json = base::read_json(manifest_file());
  try {
    if (json.at("format") != kFormat)
      throw InputError(manifest_file().string() + ": unknown format");
    return {json.at("preset"), json.at("seeds"), json.at("threads"), json.at("experiments"),
            json.value("text", "")};
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{} is no suite's: {}", manifest_file().string(), error.what()));
  }
}

void SuiteFolder::write_manifest(const SuiteManifest& manifest) const {
  nlohmann::ordered_json json{{"format", kFormat},
                              {"preset", manifest.preset},
                              {"seeds", manifest.seeds},
                              {"threads", manifest.threads},
                              {"experiments", manifest.names}};
  if (!manifest.text.empty()) json["text"] = manifest.text;
  base::write_json(manifest_file(), json);
}

std::map<std::string, std::string> SuiteFolder::read_failures() const {
  if (!std::filesystem::exists(failures_file())) return {};
  const nlohmann::json json = base::read_json(failures_file());
  try {
    return json.get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw InputError(failures_file().string() + " must be an object of strings");
  }
}

void SuiteFolder::write_failures(const std::map<std::string, std::string>& failures) const {
  base::write_json(failures_file(), failures);
}

SuiteManifest merged_manifest(const SuiteFolder& folder, const std::string& preset,
                              const std::vector<std::string>& names,
                              const std::vector<uint64_t>& seeds, int64_t threads) {
  select_experiments(names);  // refuses unknown ones
  SuiteManifest manifest{preset, {}, threads, {}};
  if (folder.exists()) manifest = folder.read_manifest();
  if (manifest.preset != preset) {
    throw InputError(
        fmt::format("{}: the results there are of preset {}, not {}; choose another "
                    "--out",
                    folder.path().string(), manifest.preset, preset));
  }
  add_new(manifest.seeds,
          manifest.seeds.empty() && seeds.empty() ? suite_preset(preset).seeds : seeds);
  add_new(manifest.names, names);
  return manifest;
}

}  // namespace edelta::reproduce
