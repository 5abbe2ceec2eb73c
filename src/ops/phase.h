// The angle φ = π(1 − γ) that a gate turns by (specification 11).
#pragma once

#include "edelta/torch.h"

namespace edelta::ops {

// In float64. From half the angle to the nearer end, so that both are exact at γ = 0 and γ = 1.
struct Phase {
  explicit Phase(const torch::Tensor& gamma);
  torch::Tensor cosine_less_one, sine;
};

}  // namespace edelta::ops
