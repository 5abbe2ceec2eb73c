// Parity of the recursive puzzle model (specification 13).
#pragma once

#include "verify/trace.h"

namespace edelta::verify {

// Whether it is a trace of such a model.
bool is_recursive(const base::TensorFile& trace);

// In float32, what the original's own run in float32 differs by, times 3, or what is usual, if that
// is more: the trace has some of its values, and only those are compared.
ParityTolerance recursive_tolerance(const base::TensorFile& trace, torch::ScalarType dtype);

void check_recursive(const base::TensorFile& trace, torch::ScalarType dtype, Comparer& compare);

}  // namespace edelta::verify
