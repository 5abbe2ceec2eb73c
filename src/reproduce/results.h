// Everything that a suite's folder holds, put together: the tables with the paper's numbers beside
// ours and a verdict, and the data of the figures. The report is made from this alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "reproduce/figure.h"
#include "reproduce/protocol.h"
#include "reproduce/table.h"
#include "reproduce/text_sample.h"

namespace edelta::reproduce {

// How many of the steps are done.
struct Progress {
  int64_t total = 0, done = 0, failed = 0;
  double seconds = 0;  // of the trainings
};

struct ExperimentResult {
  std::string name, title;
  bool ours = false;
  std::string claim, method;
  Progress runs = {};
  std::vector<Table> tables = {};
  std::vector<Figure> figures = {};
  std::vector<TextSample> samples = {};
};

// What the trainings ran on. Empty: not known.
struct MachineSummary {
  std::string cpu;
  std::vector<int64_t> threads;  // of a run: each number that there was, ascending
  std::string isa, blas, libtorch;
  std::string edelta = {};  // its version, where it is known; that of all results is their own
};

struct Results {
  std::string preset;
  std::vector<uint64_t> seeds;
  std::string version;  // of the library, when the runs were made
  MachineSummary machine;
  Progress runs;
  std::optional<ProtocolSummary> protocol;
  std::vector<ProtocolDifference> differences;
  std::vector<std::string> verdict_rule;
  std::vector<ExperimentResult> experiments;
};

}  // namespace edelta::reproduce
