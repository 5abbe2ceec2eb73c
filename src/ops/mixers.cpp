#include "edelta/ops/mixers.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

constexpr double kSinkhornEps = 1e-8;

Tensor iterate(const Tensor& w, Tensor y, double alpha, int64_t iterations) {
  const Tensor identity = torch::eye(w.size(-1), w.options());
  for (int64_t i = 0; i < iterations; ++i) y = identity + alpha / 2 * w.matmul(identity + y);
  return y;
}

Tensor skew(const Tensor& z) { return z - z.transpose(-2, -1); }

}  // namespace

Tensor sinkhorn(const Tensor& z, int64_t iterations) {
  if (iterations == 0) return z.exp();
  // exp(Z)/(Σ exp(Z) + ε) with numerator and denominator scaled by exp(−row maximum): the same
  // number, but nothing overflows.
  const Tensor shift = z.detach().amax(-1, /*keepdim=*/true);
  Tensor m = (z - shift).exp();
  Tensor eps = kSinkhornEps * (-shift).exp();
  for (int64_t i = 0; i < iterations; ++i) {
    m = m / (m.sum(-1, /*keepdim=*/true) + eps);
    m = m / (m.sum(-2, /*keepdim=*/true) + kSinkhornEps);
    eps = torch::full({}, kSinkhornEps, z.options());
  }
  return m;
}

Tensor iterative_cayley(const Tensor& z, double alpha, int64_t iterations) {
  const Tensor w = skew(z);
  return iterate(w, torch::eye(w.size(-1), w.options()) + alpha * w, alpha, iterations);
}

Tensor iterative_cayley_from_identity(const Tensor& z, double alpha, int64_t iterations) {
  const Tensor w = skew(z);
  return iterate(w, torch::eye(w.size(-1), w.options()), alpha, iterations);
}

Tensor pre_weights(const Tensor& z) { return z.softmax(-1).mean(-2); }

Tensor post_weights(const Tensor& z) { return z.softmax(-2).sum(-1); }

}  // namespace edelta::ops
