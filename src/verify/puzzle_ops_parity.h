// The ops of the recursive model against a trace of theirs: rms_norm, swiglu, attention, stablemax.
#pragma once

#include "edelta/torch.h"

#include "edelta/base/safetensors.h"
#include "verify/trace.h"

namespace edelta::verify {

// Those that the trace has.
void check_puzzle_ops(const base::TensorFile& trace, torch::ScalarType dtype, Comparer& compare);

}  // namespace edelta::verify
