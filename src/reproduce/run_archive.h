// Reads what a suite has produced so far.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "edelta/train/config.h"
#include "reproduce/experiment.h"
#include "reproduce/results.h"
#include "reproduce/run_log.h"
#include "reproduce/suite_folder.h"
#include "reproduce/suite_preset.h"

namespace edelta::reproduce {

// How a finished run ended.
struct RunOutcome {
  double best_val_loss = 0, final_val_loss = 0;
  double parameters = 0;
  double seconds = 0;                      // of training, validation included
  std::map<std::string, double> measures;  // of text: perplexity, …; of puzzles: accuracy, …
  MachineSummary machine;
};

struct RunRecord {
  std::string name;
  train::TrainConfig config;
  std::optional<RunOutcome> outcome;  // of a finished run
  RunLog log;                         // of a finished run
};

// That a finished run took; 0 where its result does not say.
double training_seconds(const std::filesystem::path& result_file);

// Of what describe_machine() says, now or in a run's result.
MachineSummary summarise_machine(const nlohmann::json& machine);

class RunArchive {
 public:
  RunArchive(const SuiteFolder& folder, const SuiteManifest& manifest)
      : folder_(folder), manifest_(manifest), preset_(suite_preset(manifest.preset)) {}

  const SuiteManifest& manifest() const { return manifest_; }
  const SuitePreset& preset() const { return preset_; }
  const SuiteFolder& folder() const { return folder_; }

  // A variant's runs, one for each seed, finished or not.
  std::vector<const RunRecord*> runs(const TrainingTable& table, const Variant& variant);
  // The finished ones.
  std::vector<const RunRecord*> finished(const TrainingTable& table, const Variant& variant);
  // A measurement, if it has been made; `from_json` is that of the layer that measures.
  template <class Result>
  std::optional<Result> measurement(const std::string& name,
                                    Result (*from_json)(const nlohmann::json&,
                                                        const std::string& source)) const {
    const std::filesystem::path file = folder_.measurement(name);
    if (!std::filesystem::exists(file)) return std::nullopt;
    return from_json(base::read_json(file), file.string());
  }

 private:
  const RunRecord& load(const train::TrainConfig& config);

  const SuiteFolder& folder_;
  const SuiteManifest& manifest_;
  const SuitePreset& preset_;
  std::map<std::string, std::unique_ptr<RunRecord>> records_;
};

}  // namespace edelta::reproduce
