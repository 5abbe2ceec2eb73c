// Reads what a suite has produced so far.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "edelta/experiments/run_plan.h"

namespace edelta::experiments {

struct RunRecord {
  std::string name;
  train::TrainConfig config;
  std::optional<nlohmann::json> result;  // of a finished run
  std::vector<nlohmann::json> metrics;   // of a finished run
};

class RunArchive {
 public:
  RunArchive(const SuiteFolder& folder, const SuiteManifest& manifest)
      : folder_(folder), manifest_(manifest), preset_(suite_preset(manifest.preset)) {}

  const SuiteManifest& manifest() const { return manifest_; }
  const SuitePreset& preset() const { return preset_; }

  // A variant's runs, one for each seed, finished or not.
  std::vector<const RunRecord*> runs(const TrainingTable& table, const Variant& variant);
  // The finished ones.
  std::vector<const RunRecord*> finished(const TrainingTable& table, const Variant& variant);
  // The JSON of a measurement that has been made.
  std::optional<nlohmann::json> measurement(const std::string& name) const;

 private:
  const RunRecord& load(const train::TrainConfig& config);

  const SuiteFolder& folder_;
  const SuiteManifest& manifest_;
  const SuitePreset& preset_;
  std::map<std::string, std::unique_ptr<RunRecord>> records_;
};

}  // namespace edelta::experiments
