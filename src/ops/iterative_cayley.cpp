#include "edelta/ops/iterative_cayley.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

Tensor iterate(const Tensor& w, Tensor y, const CayleyIteration& cayley) {
  const Tensor identity = torch::eye(w.size(-1), w.options());
  for (int64_t i = 0; i < cayley.iterations; ++i) {
    y = identity + cayley.alpha / 2 * w.matmul(identity + y);
  }
  return y;
}

Tensor skew(const Tensor& z) { return z - z.transpose(-2, -1); }

}  // namespace

Tensor iterative_cayley(const Tensor& z, const CayleyIteration& cayley) {
  const Tensor w = skew(z);
  return iterate(w, torch::eye(w.size(-1), w.options()) + cayley.alpha * w, cayley);
}

Tensor iterative_cayley_from_identity(const Tensor& z, const CayleyIteration& cayley) {
  const Tensor w = skew(z);
  return iterate(w, torch::eye(w.size(-1), w.options()), cayley);
}

}  // namespace edelta::ops
