#include "edelta/ops/pooling.h"

namespace edelta::ops {

using torch::Tensor;

Tensor pool(const Tensor& x, Pool pool) {
  switch (pool) {
    case Pool::sequence:
      return x.mean(1, /*keepdim=*/true);
    case Pool::prefix: {
      // A running sum in float32 would lose a digit every ten thousand positions.
      const Tensor count =
          torch::arange(1, x.size(1) + 1, x.options().dtype(torch::kFloat64)).unsqueeze(-1);
      return (x.to(torch::kFloat64).cumsum(1) / count).to(x.scalar_type());
    }
    case Pool::token:
      break;
  }
  return x;
}

}  // namespace edelta::ops
