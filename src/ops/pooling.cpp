#include "edelta/ops/pooling.h"

#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/shapes.h"

namespace edelta::ops {

using torch::Tensor;

WithInput pool(const Tensor& x, Pool pool) {
  switch (pool) {
    case Pool::sequence:
      shapes::require_sequences("sequence_mean", x);
      if (use_fused({x})) return fused::sequence_mean(x);
      return {x.mean(1, /*keepdim=*/true), x};
    case Pool::prefix: {
      shapes::require_sequences("prefix_mean", x);
      if (use_fused({x})) return {fused::prefix_mean(x), x};
      // A running sum in float32 would lose a digit every ten thousand positions.
      const Tensor count =
          torch::arange(1, x.size(1) + 1, x.options().dtype(torch::kFloat64)).unsqueeze(-1);
      return {(x.to(torch::kFloat64).cumsum(1) / count).to(x.scalar_type()), x};
    }
    case Pool::token:
      break;
  }
  return {x, x};
}

double pooled_per_token(Pool pool, int64_t length) {
  return pool == Pool::sequence ? 1 / static_cast<double>(length) : 1;
}

}  // namespace edelta::ops
