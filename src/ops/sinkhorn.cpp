#include "edelta/ops/sinkhorn.h"

#include <cmath>

#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/shapes.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

constexpr double kSinkhornEps = 1e-8;

}  // namespace

Tensor sinkhorn(const Tensor& z, int64_t iterations) {
  shapes::require_square("sinkhorn", z, iterations);
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

}  // namespace edelta::ops
