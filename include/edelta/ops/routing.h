// Routing by token (JPmHC, streamed EΔ): what goes from the streams into the sub-layer, and what
// comes back into them.
#pragma once

#include "edelta/ops/mixers.h"
#include "edelta/ops/sublayers.h"
#include "edelta/torch.h"

namespace edelta::ops {

struct Routed {
  torch::Tensor aggregate;  // Σ_j pre_j x_j [B, T, d], for the sub-layer
  torch::Tensor residual;   // H_res [B, T, n, n]; undefined: the identity
  torch::Tensor post;       // [B, T, n]
  torch::Tensor x;          // for routed_update alone
  // Then the gradient that flows into `x` is that of H_res x, and none flows from routed_update
  // into `residual`: the backward pass of route sees to both, so that it takes x and this gradient
  // from memory only once. `residual` and `x` must come to routed_update as route returned them.
  bool fused = false;
};

// The mixers of each token of x [B, T, n·d] from its logits, W LN(x) + b: two matrices n×n, or
// three, then with H_res.
Routed route(const torch::Tensor& x, const Norm& norm, const Affine& map, int64_t streams,
             const CayleyIteration& cayley = {});

// x'_i = (H_res x)_i + post_i y for the sub-layer's output y [B, T, d].
torch::Tensor routed_update(const Routed& routed, const torch::Tensor& y);

}  // namespace edelta::ops
