// Runs the steps of a suite, several at a time, and continues where an earlier call stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "reproduce/launcher.h"
#include "reproduce/suite_folder.h"

namespace edelta::reproduce {

struct Overview {
  int64_t total = 0, done = 0, failed = 0;
  std::vector<std::string> running;
  double seconds_left = 0;
};

struct RunnerOptions {
  int64_t jobs = 1;
  int64_t all_threads = 1;  // for a step that has the machine for itself
  // Asked often; a signal's number stops everything, saved.
  std::function<int()> stop_signal = {};
  std::function<void(const Overview&)> on_overview = {};
  std::function<void(const std::string& step, const std::string& reason)> on_failure = {};
};

struct RunnerOutcome {
  int stopped_by = 0;  // the signal, or 0
  std::map<std::string, std::string> failures;
};

// What is not done yet of the manifest's steps, by `launcher`.
RunnerOutcome run_steps(const SuiteFolder& folder, const SuiteManifest& manifest,
                        Launcher& launcher, const RunnerOptions& options);

}  // namespace edelta::reproduce
