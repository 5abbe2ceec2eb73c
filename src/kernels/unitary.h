// The complex field: G = P_φ Q, φ = π(1 − γ), unitary on n/2 complex streams, as a real matrix
// (specification 11.2). Its arguments are the linear blend's; n is even, and numbers 2j and 2j + 1
// of u, v and k are the real and imaginary part of entry j. Computed in float64 inside, as the
// composite version is.
#pragma once

#include "kernels/hybrid.h"

namespace edelta::kernels {

void unitary_forward(const HybridForward& arguments);
void unitary_backward(const HybridBackward& arguments);

}  // namespace edelta::kernels
