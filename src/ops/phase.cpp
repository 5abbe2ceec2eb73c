#include "ops/phase.h"

#include <numbers>

namespace edelta::ops {

Phase::Phase(const torch::Tensor& gamma_in) {
  const torch::Tensor gamma = gamma_in.to(torch::kFloat64);
  const torch::Tensor near_zero = gamma > 0.5;
  const torch::Tensor half = std::numbers::pi / 2 * torch::where(near_zero, 1 - gamma, gamma);
  const torch::Tensor s = half.sin(), c = half.cos();
  sine = 2 * s * c;
  cosine_less_one = -2 * torch::where(near_zero, s, c).square();
}

}  // namespace edelta::ops
