// The Householder reflection (specification 1.2): I − 2 k kᵀ with |k| = 1.
#pragma once

#include "edelta/torch.h"

namespace edelta::ops {

// k/|k| along the last dimension, of length 1 for every k ≠ 0 however small or large; 0 for k = 0.
torch::Tensor unit_direction(const torch::Tensor& k);

// H = I − 2 k kᵀ/|k|² [..., n, n] from k [..., n]; k = 0 gives I, with zero gradient.
torch::Tensor householder_matrix(const torch::Tensor& k);

// H·x for x [..., n, d] without forming H.
torch::Tensor householder_reflect(const torch::Tensor& k, const torch::Tensor& x);

}  // namespace edelta::ops
