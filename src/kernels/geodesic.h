// The geodesic blend on streams: G = R_φ Q, φ = π(1 − γ), where R_φ turns by φ in the plane of k
// and the part of u that is orthogonal to it (specification 11.1). Its arguments are the linear
// blend's. Computed in float64 inside, as the composite version is.
#pragma once

#include "kernels/hybrid.h"

namespace edelta::kernels {

void geodesic_forward(const HybridForward& arguments);
void geodesic_backward(const HybridBackward& arguments);

}  // namespace edelta::kernels
