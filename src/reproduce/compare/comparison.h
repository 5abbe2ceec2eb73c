// Runs side by side: how they were set up, how they went.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reproduce/compare/run_overview.h"
#include "reproduce/figure.h"
#include "reproduce/run_log.h"

namespace edelta::reproduce {

struct ComparedRun {
  std::string name;  // no two are alike
  RunOverview overview;
  int64_t parameters = 0;
  bool sees_future = false;
  RunLog log;
};

// A setting that is not the same in all runs.
struct DifferingSetting {
  std::string key;                  // "train.seed"
  std::vector<std::string> values;  // one a run, a dash where it has none
};

struct Comparison {
  std::vector<ComparedRun> runs;
  std::vector<DifferingSetting> settings;
  std::vector<std::string> notes;  // what is to be known before the losses are compared
};

// Reads the runs as they are now. InputError for what is no run, or given twice.
Comparison compare_runs(const std::vector<std::filesystem::path>& folders);

// Losses, the share of puzzles solved, gradient norms, and γ of those that have gates; a figure is
// absent where nothing has been logged for it.
std::vector<Figure> figures_of(const Comparison& comparison);

}  // namespace edelta::reproduce
