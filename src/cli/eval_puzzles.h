// edelta eval of a recursive run: what it solves after each number of steps.
#pragma once

#include <string>

#include "cli/run_options.h"
#include "edelta/train/training_data.h"

namespace edelta::cli {

struct PuzzleEvalOptions {
  train::Split split = train::Split::val;
  std::string submission = {};  // file for the answers to ARC's tasks; empty: none
  bool force = false;
};

void eval_puzzles(const RunOptions& run, const PuzzleEvalOptions& options);

}  // namespace edelta::cli
