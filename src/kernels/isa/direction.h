// The unit vector of a reflection (specification 1.2).
#pragma once

#include "kernels/isa/vectors64.h"

namespace edelta::kernels::EDELTA_ISA {

// k̂ = k/|k|, 0 for k = 0; scaled by the largest entry, so that no square overflows or vanishes.
struct Direction {
  Direction(const float* k_in, int64_t n, Scratch& scratch) : k(doubles(scratch, n)) {
    widen(k_in, n, k);
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) largest = fabs(k[i]) > largest ? fabs(k[i]) : largest;
    if (largest == 0) return;
    for (int64_t i = 0; i < n; ++i) k[i] /= largest;
    const double length = sqrt(dot(k, k, n));
    for (int64_t i = 0; i < n; ++i) k[i] /= length;
    inverse_length = 1 / length / largest;
  }

  bool is_zero() const { return inverse_length == 0; }

  // The gradient of k from that of k̂.
  void backward(const double* dk_unit, int64_t n, float* dk) const {
    const double along = dot(k, dk_unit, n);
    for (int64_t i = 0; i < n; ++i) {
      dk[i] = static_cast<float>((dk_unit[i] - along * k[i]) * inverse_length);
    }
  }

  double* k;
  double inverse_length = 0;
};

}  // namespace edelta::kernels::EDELTA_ISA
