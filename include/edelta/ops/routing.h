// Routing by token (JPmHC, streamed EΔ; specification 3): what goes from the streams into the
// sub-layer, and what comes back into them.
#pragma once

#include "edelta/torch.h"

#include <functional>

#include "edelta/ops/iterative_cayley.h"
#include "edelta/ops/linear.h"

namespace edelta::ops {

// H_pre, a softmax over each row of its logits, is only ever averaged over its rows, and H_post, a
// softmax over each column, only ever meets the same vector in every stream. What counts are
// therefore the n column means of H_pre and the n row sums of H_post.
struct Mixers {
  torch::Tensor pre, post;  // [..., n]
  torch::Tensor h_res;      // [..., n, n]; undefined where there are no logits for it
};
// From the logits of each token [..., 2, n, n], Z_pre and Z_post, or [..., 3, n, n], with Z_res. A
// part of route, which has the fused version of the whole.
Mixers token_mixers(const torch::Tensor& z, const CayleyIteration& cayley = {});

struct Routed {
  torch::Tensor aggregate;  // Σ_j pre_j x_j [B, T, d], for the sub-layer
  torch::Tensor post;       // [B, T, n]
  torch::Tensor h_res;      // [B, T, n, n]; undefined: the identity
  // The way back: x'_i = (H_res x)_i + post_i y for the sub-layer's output y [B, T, d].
  std::function<torch::Tensor(const torch::Tensor& y)> update;
};

// The mixers of each token of x [B, T, n·d] from its logits, W LN(x) + b: two matrices n×n, or
// three, then with H_res.
Routed route(const torch::Tensor& x, const Norm& norm, const Affine& map, int64_t streams,
             const CayleyIteration& cayley = {});

}  // namespace edelta::ops
