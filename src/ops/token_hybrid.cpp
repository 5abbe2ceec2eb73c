#include "edelta/ops/token_hybrid.h"

#include <vector>

#include "edelta/ops/cayley.h"
#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/shapes.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

// As published, with its constants: the mean of the components does not vanish at k = 0.
Tensor published_direction(const Tensor& k_raw) {
  const Tensor k = k_raw + 1e-8;
  return k / k.norm(2, -1, /*keepdim=*/true).clamp_min(1e-12);
}

}  // namespace

TokenHybrid token_hybrid(const Tensor& x, const Tensor& parameters, int64_t streams) {
  shapes::require_token_hybrid(x, parameters, streams);
  const int64_t width = x.size(-1);
  if (use_fused({x, parameters})) return fused::token_hybrid(x, parameters, streams);
  const auto parts = parameters.split_with_sizes({streams, streams, 1, width, 1}, -1);
  const Tensor beta = torch::softplus(parts[2]);
  const Tensor k = published_direction(parts[3]);
  const Tensor gamma = torch::sigmoid(parts[4]);
  const Tensor as_streams = x.unflatten(-1, std::vector<int64_t>{streams, -1});
  const Tensor rotated = cayley_rotate(parts[0], parts[1], beta, as_streams).flatten(-2);
  const Tensor reflected = x - 2 * (k * x).sum(-1, /*keepdim=*/true) * k;
  return {gamma * rotated + (1 - gamma) * reflected, gamma};
}

}  // namespace edelta::ops
