// The RMS norm of one row, without weights.
#pragma once

#include <cmath>
#include <cstdint>

namespace edelta::kernels::EDELTA_ISA {

// 1/√(mean(x²) + ε). Summed in float64: a recursion amplifies what its norms round off.
static inline float inverse_rms(const float* x, int64_t width, float eps) {
  double squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < width; ++i) squares += static_cast<double>(x[i]) * x[i];
  return static_cast<float>(1 / std::sqrt(squares / static_cast<double>(width) + eps));
}

// y = rstd·x; y may be x.
static inline void scale_row(const float* x, int64_t width, float rstd, float* y) {
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) y[i] = rstd * x[i];
}

// dx = rstd·(dy − y·mean(dy ⊙ y)); dx may be dy.
static inline void inverse_rms_backward(const float* y, float rstd, const float* dy, int64_t width,
                                        float* dx) {
  double products = 0;
#pragma omp simd reduction(+ : products)
  for (int64_t i = 0; i < width; ++i) products += static_cast<double>(dy[i]) * y[i];
  const auto along = static_cast<float>(products / static_cast<double>(width));
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) dx[i] = rstd * (dy[i] - y[i] * along);
}

}  // namespace edelta::kernels::EDELTA_ISA
