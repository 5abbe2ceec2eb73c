// What has to be run for a suite.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "reproduce/experiment.h"
#include "reproduce/step.h"
#include "reproduce/suite_folder.h"
#include "reproduce/suite_preset.h"

namespace edelta::reproduce {

// Collects the steps of experiments. A step of a name that is already there is the same step.
class Plan {
 public:
  Plan(const SuiteFolder& folder, const SuitePreset& preset) : folder_(folder), preset_(preset) {}

  const SuitePreset& preset() const { return preset_; }
  const std::vector<Step>& steps() const { return steps_; }

  // Into a run folder of that name; returns the step.
  Step add_training(const TrainingTable& table, const Variant& variant, uint64_t seed);
  // `seconds`: how long it takes at its usual size.
  void add_measurement(const std::string& name, Request request, double seconds,
                       const std::string& after = {});
  // The same for one that needs the machine for itself.
  void add_timing(const std::string& name, Request request, double seconds);

 private:
  void add(Step step);
  Step measurement(const std::string& name, Request request, double seconds) const;

  const SuiteFolder& folder_;
  const SuitePreset& preset_;
  std::vector<Step> steps_;
  std::set<std::string> names_;
};

// The configuration that a variant is trained with. Without the suite's text in its folder, those
// of language models lack the size of its vocabulary.
train::TrainConfig training_config(const SuiteFolder& folder, const SuitePreset& preset,
                                   const TrainingTable& table, const Variant& variant,
                                   uint64_t seed);
// Whether runs of these configurations are the same: their text may lie elsewhere now.
bool same_run(const train::TrainConfig& a, const train::TrainConfig& b);
// The task, the model, what differs from the preset's model of that name and its training, and the
// seed: the same for variants of different experiments that are trained alike.
std::string run_name(const train::TrainConfig& config);

// All steps, without duplicates: short measurements first, then by seed, what measures time last.
// With `manifest.only` the runs of such names with what is measured of them, and measurements of
// such names with the runs that they need. InputError for a pattern that no step's name matches.
std::vector<Step> plan_steps(const SuiteFolder& folder, const SuiteManifest& manifest);
// Those of some experiments.
std::vector<Step> plan_steps(const SuiteFolder& folder, const SuiteManifest& manifest,
                             const std::vector<Experiment>& experiments);

}  // namespace edelta::reproduce
