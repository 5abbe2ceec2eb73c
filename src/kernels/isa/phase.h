// The angle φ = π(1 − γ) that a gate turns by (specification 11).
#pragma once

#include <math.h>

#include <numbers>

namespace edelta::kernels::EDELTA_ISA {

// From half the angle to the nearer end, so that sin φ and cos φ are exact at both.
struct Phase {
  explicit Phase(double gamma) {
    const bool near_zero = gamma > 0.5;
    const double half = std::numbers::pi / 2 * (near_zero ? 1 - gamma : gamma);
    const double s = sin(half), c = cos(half);
    sine = 2 * s * c;
    cosine_less_one = near_zero ? -2 * s * s : -2 * c * c;
  }

  // The gradient of γ from those of cos φ and sin φ.
  double backward(double dcosine, double dsine) const {
    return std::numbers::pi * (sine * dcosine - (1 + cosine_less_one) * dsine);
  }

  double sine, cosine_less_one;
};

}  // namespace edelta::kernels::EDELTA_ISA
