// The complex field (specification 11.2): operators on m = n/2 complex streams, as real n×n
// matrices. Numbers 2j and 2j + 1 of a vector are the real and imaginary part of its entry j.
//
//   M = (β/2)(u v* − v u*),  Q = (I + M)⁻¹ (I − M)          unitary
//   P_φ = I + (e^{iφ} − 1) k k*,  |k| = 1,  φ = π(1 − γ)    unitary, I at γ = 1, I − 2kk* at γ = 0
//   G = P_φ Q
//
// k = 0 gives P_φ = I, with zero gradient. Computed in float64 whatever the dtype of the input.
#pragma once

#include "edelta/torch.h"

namespace edelta::ops {

// G [..., n, n] from u, v, k [..., n], n even, and β, γ [..., 1].
torch::Tensor unitary_matrix(const torch::Tensor& u, const torch::Tensor& v,
                             const torch::Tensor& beta, const torch::Tensor& k,
                             const torch::Tensor& gamma);

// The rotation alone, Q [..., n, n].
torch::Tensor unitary_rotation_matrix(const torch::Tensor& u, const torch::Tensor& v,
                                      const torch::Tensor& beta);
// The reflection alone, I − 2kk* [..., n, n].
torch::Tensor unitary_reflection_matrix(const torch::Tensor& k);

// Q·x and P_φ·x for x [..., n, d] without forming a matrix, in O(n·d).
torch::Tensor unitary_rotate(const torch::Tensor& u, const torch::Tensor& v,
                             const torch::Tensor& beta, const torch::Tensor& x);
torch::Tensor unitary_turn(const torch::Tensor& k, const torch::Tensor& gamma,
                           const torch::Tensor& x);

}  // namespace edelta::ops
