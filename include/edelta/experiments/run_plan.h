// What has to be run for a suite: trainings and measurements, each a child process of its own.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "edelta/experiments/suite.h"
#include "edelta/experiments/suite_folder.h"
#include "edelta/train/config.h"

namespace edelta::experiments {

struct Step {
  std::string name;
  std::vector<std::string> arguments;          // of the edelta program
  std::optional<train::TrainConfig> training;  // or else a measurement …
  std::filesystem::path output = {};           // … whose standard output, JSON, becomes this file
  std::string after = {};                      // the step whose result it needs
  bool exclusive = false;                      // measures time: nothing else may run beside it
  double seconds = 0;                          // a rough estimate for measurements
};

// The configuration that a variant is trained with.
train::TrainConfig training_config(const SuitePreset& preset, const TrainingTable& table,
                                   const Variant& variant, uint64_t seed);
// The task, the model, what differs from the preset's model of that name, and the seed: the same
// for variants of different experiments that are trained alike.
std::string run_name(const train::TrainConfig& config);

std::string norms_name(const std::string& run);
std::string reflection_name(const std::string& op, uint64_t seed);
const std::vector<std::string>& reflection_operators(const SuitePreset& preset);

// All steps, without duplicates: short measurements first, then by seed, what measures time last.
std::vector<Step> plan_steps(const SuiteFolder& folder, const SuiteManifest& manifest);

}  // namespace edelta::experiments
