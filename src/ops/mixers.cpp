#include "edelta/ops/mixers.h"

#include "edelta/ops/dispatch.h"
#include "ops/fused.h"

#include <cmath>

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
  if (iterations > 0 && use_fused({z})) return fused::sinkhorn(z, iterations);
  // On logarithms: ln(m/(Σm + ε)) = l − ln(e^{ln Σ e^l} + e^{ln ε}). Nothing overflows, and where a
  // whole row or column underflows the backward pass stays bounded: dividing by ε twenty times
  // would multiply its gradient by 1e160.
  const Tensor log_eps = torch::full({}, std::log(kSinkhornEps), z.options());
  Tensor log_m = z;
  for (int64_t i = 0; i < iterations; ++i) {
    for (const int64_t dim : {-1, -2}) {
      log_m = log_m - torch::logaddexp(log_m.logsumexp(dim, /*keepdim=*/true), log_eps);
    }
  }
  return log_m.exp();
}

Tensor iterative_cayley(const Tensor& z, double alpha, int64_t iterations) {
  const Tensor w = skew(z);
  return iterate(w, torch::eye(w.size(-1), w.options()) + alpha * w, alpha, iterations);
}

Tensor iterative_cayley_from_identity(const Tensor& z, double alpha, int64_t iterations) {
  const Tensor w = skew(z);
  return iterate(w, torch::eye(w.size(-1), w.options()), alpha, iterations);
}

Mixers token_mixers(const Tensor& z, const CayleyIteration& cayley) {
  const std::vector<Tensor> parts = z.unbind(-3);
  Mixers mixers{parts[0].softmax(-1).mean(-2), parts[1].softmax(-2).sum(-1), {}};
  if (parts.size() > 2) {
    mixers.residual = iterative_cayley(parts[2], cayley.alpha, cayley.iterations);
  }
  return mixers;
}

}  // namespace edelta::ops
