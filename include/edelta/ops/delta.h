// DDL's operator (specification 1.6).
#pragma once

#include "edelta/torch.h"

namespace edelta::ops {

// x − β k (kᵀ x)/|k|² along the last dimension of x [..., D], for k [..., D] and β [..., 1].
// Orthogonal only for β ∈ {0, 2}.
torch::Tensor delta(const torch::Tensor& k, const torch::Tensor& beta, const torch::Tensor& x);

}  // namespace edelta::ops
