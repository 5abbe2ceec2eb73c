// The peers' n×n stream mixers, made from logits Z [..., n, n] (SPEC 1.6, 3).
#pragma once

#include "edelta/torch.h"

namespace edelta::ops {

// mHC: exp(Z), then `iterations` times rows divided by (row sum + 1e-8), then columns likewise.
// Approximately doubly stochastic.
torch::Tensor sinkhorn(const torch::Tensor& z, int64_t iterations = 20);

// JPmHC: W = Z − Zᵀ, Y₀ = I + αW, then `iterations` times Y ← I + (α/2) W (I + Y). Approximately
// orthogonal: a truncated fixed-point iteration for the Cayley transform of −αW/2.
torch::Tensor iterative_cayley(const torch::Tensor& z, double alpha = 0.1, int64_t iterations = 2);

// The same from Y₀ = I, as the reflection probe has it (SPEC 6).
torch::Tensor iterative_cayley_from_identity(const torch::Tensor& z, double alpha,
                                             int64_t iterations);

// JPmHC's routing. H_pre, a softmax over each row of Z, is only ever averaged over its rows, and
// H_post, a softmax over each column, only ever meets the same vector in every stream. What counts
// are therefore the n column means of H_pre and the n row sums of H_post.
struct Mixers {
  torch::Tensor pre, post;  // [..., n]
  torch::Tensor residual;   // H_res [..., n, n]; undefined where there are no logits for it
};
struct CayleyIteration {
  double alpha = 0.1;
  int64_t iterations = 2;
};
// From the logits of each token [..., 2, n, n], Z_pre and Z_post, or [..., 3, n, n], with Z_res. A
// part of route (routing.h), which has the fused version of the whole.
Mixers token_mixers(const torch::Tensor& z, const CayleyIteration& cayley = {});

}  // namespace edelta::ops
