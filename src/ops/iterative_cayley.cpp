#include "edelta/ops/iterative_cayley.h"

#include "ops/shapes.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

// libtorch 1.13 makes no identity of bfloat16.
Tensor identity_like(const Tensor& w) {
  return torch::eye(w.size(-1), w.options().dtype(torch::kFloat64)).to(w.scalar_type());
}

Tensor iterate(const Tensor& w, Tensor y, const CayleyIteration& cayley) {
  const Tensor identity = identity_like(w);
  for (int64_t i = 0; i < cayley.iterations; ++i) {
    y = identity + cayley.alpha / 2 * w.matmul(identity + y);
  }
  return y;
}

Tensor skew(const Tensor& z) { return z - z.transpose(-2, -1); }

}  // namespace

Tensor iterative_cayley(const Tensor& z, const CayleyIteration& cayley) {
  shapes::require_square("iterative_cayley", z, cayley.iterations);
  const Tensor w = skew(z);
  return iterate(w, identity_like(w) + cayley.alpha * w, cayley);
}

Tensor iterative_cayley_from_identity(const Tensor& z, const CayleyIteration& cayley) {
  shapes::require_square("iterative_cayley_from_identity", z, cayley.iterations);
  const Tensor w = skew(z);
  return iterate(w, identity_like(w), cayley);
}

}  // namespace edelta::ops
