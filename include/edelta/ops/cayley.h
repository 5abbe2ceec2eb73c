// The data-dependent Cayley rotation in closed form (specification 1.1).
//
//   A = u vᵀ − v uᵀ,  M = (β/2) A,  Q = (I + M)⁻¹ (I − M)
//
// A has rank 2, so M³ = −s M with s = ½‖M‖²_F, and the inverse is a polynomial:
//
//   Q = I − 2/(1+s) · (M − M²)
//
// exact for every n, u, v and β: orthogonal, det +1, never an eigenvalue −1.
//
// M does not change when a multiple of u is added to v. Both functions first remove from v its part
// along u, which keeps M and s free of cancellation where u and v are nearly parallel; where what
// remains is below rounding error, u and v count as parallel and Q = I. They compute in float64
// whatever the dtype of the input: the vectors are short, and their products span 1e±48.
#pragma once

#include "edelta/torch.h"

namespace edelta::ops {

// Q [..., n, n] from u, v [..., n] and β [..., 1].
torch::Tensor cayley_matrix(const torch::Tensor& u, const torch::Tensor& v,
                            const torch::Tensor& beta);

// Q·x for x [..., n, d] without forming Q, in O(n·d): a full vector is x [..., n, 1].
torch::Tensor cayley_rotate(const torch::Tensor& u, const torch::Tensor& v,
                            const torch::Tensor& beta, const torch::Tensor& x);

// v with its part along u removed [..., n], in float64; zero where v is parallel to u. The amount
// removed is a constant to autograd, because M does not depend on it.
torch::Tensor part_orthogonal_to(const torch::Tensor& u, const torch::Tensor& v);

}  // namespace edelta::ops
