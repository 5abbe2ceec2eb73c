// Parity of the recursive puzzle model (specification 12).
#pragma once

#include "verify/trace.h"

namespace edelta::verify {

// Whether it is a trace of such a model.
bool is_recursive(const base::TensorFile& trace);

// In float32, what the original's own float32 run, which the trace has, differs by, times 3.
ParityTolerance recursive_tolerance(const base::TensorFile& trace, torch::ScalarType dtype);

void check_recursive(const base::TensorFile& trace, torch::ScalarType dtype, Comparer& compare);

}  // namespace edelta::verify
