// What a step of the recursive model is judged by (specification 13.4).
#pragma once

#include "edelta/models/recursive.h"

namespace edelta::models {

// Fills predictions, losses and metrics of `output` from its logits and beliefs, and the carry's
// labels, steps and halted rows. The gate's loss stays as it is.
void judge(PuzzleOutput& output, const State& carry);

}  // namespace edelta::models
