// The EΔ operator of each token by itself, in the recursive puzzle model (specification 13.3).
#pragma once

#include "edelta/torch.h"

#include <cstdint>

namespace edelta::ops {

struct TokenHybrid {
  torch::Tensor y;      // γ Q X + (1 − γ)(x − 2(k·x)k) [..., n·d]
  torch::Tensor gamma;  // [..., 1]
};

// x [..., n·d], seen as n streams for the rotation; `parameters` [..., 2n + 2 + n·d]: u and v of Q,
// β before its softplus, k before its length is taken off, γ before its sigmoid.
TokenHybrid token_hybrid(const torch::Tensor& x, const torch::Tensor& parameters, int64_t streams);

}  // namespace edelta::ops
