// What a data-dependent operator looks at (specification 1.4).
#pragma once

#include "edelta/ops/linear.h"
#include "edelta/torch.h"

namespace edelta::ops {

enum class Pool {
  sequence,  // the mean over all positions: one operator a sequence. Position t sees what comes
             // after t: right for the paper's benchmarks, wrong for autoregressive use.
  prefix,    // the mean over positions ≤ t: one operator a token, strictly causal
  token      // the token itself: one operator a token, strictly causal
};

// x [B, T, D] → [B, 1, D] for `sequence`, [B, T, D] otherwise; with x passed on.
WithInput pool(const torch::Tensor& x, Pool pool);

// How many of these there are for each token of a sequence of `length`.
double pooled_per_token(Pool pool, int64_t length);

}  // namespace edelta::ops
