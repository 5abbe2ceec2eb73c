// What a run has logged, as far as tables and figures are made of it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "edelta/train/run_folder.h"

namespace edelta::reproduce {

// An entry of its metrics.
struct LoggedStep {
  int64_t iteration = 0;
  std::optional<double> train_loss = {}, val_loss = {}, gradient_norm = {};
  // At a validation: of text, and of puzzles.
  std::optional<double> bits_per_byte = {}, exact_accuracy = {};
  std::vector<double> gamma = {};  // of every operator
};

using RunLog = std::vector<LoggedStep>;
using LoggedQuantity = std::optional<double> LoggedStep::*;

// InputError that names the file and the key.
RunLog read_log(const train::RunFolder& run);

// The quantity by iteration, where it was logged.
std::map<double, double> logged(const RunLog& log, LoggedQuantity quantity);

}  // namespace edelta::reproduce
