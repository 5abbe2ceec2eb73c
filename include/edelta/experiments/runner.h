// Runs the steps of a suite, several at a time, and continues where an earlier call stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "edelta/experiments/run_plan.h"

namespace edelta::experiments {

enum class StepStatus { to_do, partly_done, done };
std::string to_string(StepStatus status);

struct PlannedStep {
  Step step;
  StepStatus status = StepStatus::to_do;
  double seconds = 0;  // estimated, of what is left
};

struct Overview {
  int64_t total = 0, done = 0, failed = 0;
  std::vector<std::string> running;
  double seconds_left = 0;
};

struct RunnerOptions {
  int64_t jobs = 1;
  int64_t all_threads = 1;           // for a step that has the machine for itself
  std::function<int()> stop_signal;  // asked often; a signal's number stops everything, saved
  std::function<void(const Overview&)> on_overview;
  std::function<void(const std::string& step, const std::string& reason)> on_failure;
};

struct RunnerOutcome {
  int stopped_by = 0;  // the signal, or 0
  std::map<std::string, std::string> failures;
};

// Keeps other runners out of the folder while it lives; children of a runner that was killed hold
// it too until they have saved. InputError when another runner is at work there.
class SuiteLock {
 public:
  explicit SuiteLock(const SuiteFolder& folder);
  ~SuiteLock();
  SuiteLock(const SuiteLock&) = delete;
  SuiteLock& operator=(const SuiteLock&) = delete;

 private:
  int descriptor_ = -1;
};

// The manifest of a new suite, or of the one that is there with the names and seeds added. Empty
// `seeds`: those of the suite or the preset. InputError when the folder's preset is another.
SuiteManifest merged_manifest(const SuiteFolder& folder, const std::string& preset,
                              const std::vector<std::string>& names,
                              const std::vector<uint64_t>& seeds, int64_t threads);

// The steps with what is known about them. InputError for a run folder with another configuration.
std::vector<PlannedStep> inspect_steps(const SuiteFolder& folder, const SuiteManifest& manifest);

RunnerOutcome run_steps(const SuiteFolder& folder, const SuiteManifest& manifest,
                        const RunnerOptions& options);

}  // namespace edelta::experiments
