// The geodesic blend (specification 11.1): rotation and reflection joined by a path of rotations.
//
//   R_φ = I + (cos φ − 1)(k kᵀ + a aᵀ) + sin φ (a kᵀ − k aᵀ),  G = R_φ Q,  φ = π(1 − γ)
//
// k is the unit reflection vector and a the unit part of u that is orthogonal to it. G is
// orthogonal with determinant +1 for every γ: Q itself at γ = 1, and at γ = 0 k and a are negated.
//
// k = 0 gives R_φ = I, with zero gradient. Where u has no part orthogonal to k, a is a basis
// direction, without gradient. Computed in float64 whatever the dtype of the input.
#pragma once

#include "edelta/torch.h"

namespace edelta::ops {

// G [..., n, n] from u, v, k [..., n] and β, γ [..., 1].
torch::Tensor geodesic_matrix(const torch::Tensor& u, const torch::Tensor& v,
                              const torch::Tensor& beta, const torch::Tensor& k,
                              const torch::Tensor& gamma);

// R_φ·x for x [..., n, d] without forming R_φ, in O(n·d).
torch::Tensor geodesic_turn(const torch::Tensor& u, const torch::Tensor& k,
                            const torch::Tensor& gamma, const torch::Tensor& x);

}  // namespace edelta::ops
