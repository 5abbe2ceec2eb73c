// Layer norm of one row: y = x̂ ⊙ w + b, x̂ = (x − mean)·rstd.
#pragma once

#include <cmath>
#include <cstdint>

namespace edelta::kernels::EDELTA_ISA {

struct LayerNorm {
  int64_t width;
  const float* weight;  // [width], or null: no norm at all
  const float* bias;    // [width] or null
};

struct Moments {
  float mean, rstd;
};

// Two passes, because E[x²] − mean² cancels when the mean is large.
static inline Moments moments(const float* x, int64_t width, float eps) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < width; ++i) sum += x[i];
  const float mean = sum / static_cast<float>(width);
  float squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < width; ++i) squares += (x[i] - mean) * (x[i] - mean);
  return {mean, 1.0F / std::sqrt(squares / static_cast<float>(width) + eps)};
}

static inline void normalize(const LayerNorm& norm, const float* x, Moments m, float* y) {
  const float* w = norm.weight;
  const float* b = norm.bias;
  if (b == nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < norm.width; ++i) y[i] = (x[i] - m.mean) * m.rstd * w[i];
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < norm.width; ++i) y[i] = (x[i] - m.mean) * m.rstd * w[i] + b[i];
}

// dweight += dy ⊙ x̂
static inline void add_norm_weight_gradient(const LayerNorm& norm, const float* x, Moments m,
                                            const float* dy, float* dweight) {
#pragma omp simd
  for (int64_t i = 0; i < norm.width; ++i) dweight[i] += dy[i] * (x[i] - m.mean) * m.rstd;
}

// dx = rstd·(a − mean(a) − x̂·mean(a ⊙ x̂)) with a = dy ⊙ w, plus `straight` where that isn't null.
static inline void normalize_backward(const LayerNorm& norm, const float* x, Moments m,
                                      const float* dy, const float* straight, float* dx) {
  const float* w = norm.weight;
  float sum = 0;
  float along = 0;
#pragma omp simd reduction(+ : sum, along)
  for (int64_t i = 0; i < norm.width; ++i) {
    const float a = dy[i] * w[i];
    sum += a;
    along += a * ((x[i] - m.mean) * m.rstd);
  }
  sum /= static_cast<float>(norm.width);
  along /= static_cast<float>(norm.width);
  const auto gradient = [=](int64_t i) {
    return m.rstd * (dy[i] * w[i] - sum - (x[i] - m.mean) * m.rstd * along);
  };
  if (straight == nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < norm.width; ++i) dx[i] = gradient(i);
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < norm.width; ++i) dx[i] = gradient(i) + straight[i];
}

}  // namespace edelta::kernels::EDELTA_ISA
