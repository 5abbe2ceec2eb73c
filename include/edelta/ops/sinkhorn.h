// mHC's stream mixer (specification 1.6).
#pragma once

#include "edelta/torch.h"

#include <cstdint>

namespace edelta::ops {

// exp(Z) for logits Z [..., n, n], then `iterations` times rows divided by (row sum + 1e-8), then
// columns likewise. Approximately doubly stochastic.
torch::Tensor sinkhorn(const torch::Tensor& z, int64_t iterations = 20);

}  // namespace edelta::ops
