// How well a recursive model solves puzzles (specification 13.6).
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <functional>
#include <vector>

#include "edelta/data/puzzle_data.h"
#include "edelta/dist/ranks.h"
#include "edelta/models/recursive.h"

namespace edelta::train {

// Means over the puzzles after some number of steps.
struct PuzzleScore {
  double loss = 0;             // cross-entropy of a cell that is asked for
  double accuracy = 0;         // cells that are right
  double exact_accuracy = 0;   // puzzles of which all cells are
  double q_halt_accuracy = 0;  // puzzles of which the model knows whether they are
};

struct PuzzleEvaluation {
  int64_t puzzles = 0;             // that have an answer
  std::vector<PuzzleScore> after;  // 1, …, halt_max_steps steps
};

struct PuzzleEvaluationOptions {
  int64_t most = 0;  // examples, the first ones; 0: all
  int64_t batch = 128;
  std::function<void(int64_t done, int64_t all)> on_batch = {};
  // The batch and what the model says after its last step.
  std::function<void(const models::PuzzleBatch&, const models::PuzzleOutput&)> on_answers = {};
};

// Leaves the model in evaluation mode. The ranks divide the batches among them: all get the result,
// and its bits do not depend on their number.
PuzzleEvaluation evaluate_puzzles(models::RecursiveModel& model, const data::PuzzleSplit& split,
                                  const PuzzleEvaluationOptions& options = {},
                                  dist::Ranks& ranks = dist::alone());

}  // namespace edelta::train
