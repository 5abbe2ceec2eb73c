// The hybrid operator as one matrix (specification 1.3).
#pragma once

#include "edelta/torch.h"

namespace edelta::ops {

// G = γ Q + (1 − γ) H₂ [..., n, n] from u, v, k [..., n] and β, γ [..., 1].
torch::Tensor hybrid_matrix(const torch::Tensor& u, const torch::Tensor& v,
                            const torch::Tensor& beta, const torch::Tensor& k,
                            const torch::Tensor& gamma);

}  // namespace edelta::ops
