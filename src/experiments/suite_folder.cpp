#include "edelta/experiments/suite_folder.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "edelta/error.h"
#include "edelta/io/json.h"

namespace edelta::experiments {
namespace {

constexpr const char* kFormat = "edelta-suite-1";

}  // namespace

SuiteManifest SuiteFolder::read_manifest() const {
  if (!exists()) {
    throw InputError(
        fmt::format("{}: no results are there (it has no suite.json); edelta reproduce "
                    "makes them",
                    path_.string()));
  }
  const nlohmann::json json = io::read_json(manifest_file());
  try {
    if (json.at("format") != kFormat)
      throw InputError(manifest_file().string() + ": unknown format");
    return {json.at("preset"), json.at("seeds"), json.at("threads"), json.at("experiments")};
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{} is no suite's: {}", manifest_file().string(), error.what()));
  }
}

void SuiteFolder::write_manifest(const SuiteManifest& manifest) const {
  io::write_json(manifest_file(), {{"format", kFormat},
                                   {"preset", manifest.preset},
                                   {"seeds", manifest.seeds},
                                   {"threads", manifest.threads},
                                   {"experiments", manifest.names}});
}

std::map<std::string, std::string> SuiteFolder::read_failures() const {
  if (!std::filesystem::exists(failures_file())) return {};
  const nlohmann::json json = io::read_json(failures_file());
  try {
    return json.get<std::map<std::string, std::string>>();
  } catch (const nlohmann::json::exception&) {
    throw InputError(failures_file().string() + " must be an object of strings");
  }
}

void SuiteFolder::write_failures(const std::map<std::string, std::string>& failures) const {
  io::write_json(failures_file(), failures);
}

}  // namespace edelta::experiments
