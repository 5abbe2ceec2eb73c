// A recursive model's answer to a puzzle, step by step (specification 13.6).
#pragma once

#include <cstdint>
#include <vector>

#include "edelta/models/recursive.h"

namespace edelta::infer {

// What the model believes after a step.
struct Belief {
  std::vector<int32_t> answer;  // a token for each cell
  double probability = 0;       // that all of them are right
};

// After 1, …, halt_max_steps steps. `puzzle` has a token for each cell, of a kind of puzzle that is
// not told from others (identifier 0).
std::vector<Belief> solve(models::RecursiveModel& model, const std::vector<int32_t>& puzzle);

}  // namespace edelta::infer
