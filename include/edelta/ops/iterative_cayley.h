// JPmHC's stream mixer (specification 1.6). Its fused version is a part of route (routing.h).
#pragma once

#include "edelta/torch.h"

#include <cstdint>

namespace edelta::ops {

struct CayleyIteration {
  double alpha = 0.1;
  int64_t iterations = 2;
};

// W = Z − Zᵀ for logits Z [..., n, n], Y₀ = I + αW, then `iterations` times Y ← I + (α/2) W (I +
// Y). Approximately orthogonal: a truncated fixed-point iteration for the Cayley transform of
// −αW/2.
torch::Tensor iterative_cayley(const torch::Tensor& z, const CayleyIteration& cayley = {});

// The same from Y₀ = I, as the reflection probe has it (specification 6).
torch::Tensor iterative_cayley_from_identity(const torch::Tensor& z,
                                             const CayleyIteration& cayley = {});

}  // namespace edelta::ops
