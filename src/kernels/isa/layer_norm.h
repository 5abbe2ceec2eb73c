// Layer norm of one row: y = x̂ ⊙ w + b, x̂ = (x − mean)·rstd. An RMS norm is the same with mean = 0.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/isa/lanes.h"

namespace edelta::kernels::EDELTA_ISA {

struct LayerNorm {
  int64_t width;
  const float* weight;  // [width], or null: no norm at all
  const float* bias;    // [width] or null
  bool rms;
};

struct Moments {
  float mean, rstd;
};

// Two passes, because E[x²] − mean² cancels when the mean is large; two sums at a time, because one
// would wait for its own last addition.
static inline Moments moments(const LayerNorm& norm, const float* x, float eps) {
  const int64_t width = norm.width;
  Lanes even = {};
  Lanes odd = {};
  float mean = 0;
  if (!norm.rms) {
    for (int64_t i = 0; i < width; i += 2 * kLanes) {
      even += load(x, i, width);
      odd += load(x, i + kLanes, width);
    }
    mean = sum(even + odd) / static_cast<float>(width);
    even = odd = Lanes{};
  }
  for (int64_t i = 0; i < width; i += 2 * kLanes) {
    const Lanes d = load(x, i, width, mean) - mean;
    const Lanes e = load(x, i + kLanes, width, mean) - mean;
    even += d * d;
    odd += e * e;
  }
  return {mean, 1.0F / std::sqrt(sum(even + odd) / static_cast<float>(width) + eps)};
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

// dx = rstd·(a − mean(a) − x̂·mean(a ⊙ x̂)) with a = dy ⊙ w, plus `straight` where that isn't null;
// without mean(a) for an RMS norm.
static inline void normalize_backward(const LayerNorm& norm, const float* x, Moments m,
                                      const float* dy, const float* straight, float* dx) {
  const float* w = norm.weight;
  Lanes sums = {};
  Lanes products = {};
  for (int64_t i = 0; i < norm.width; i += kLanes) {
    const Lanes a = load(dy, i, norm.width) * load(w, i, norm.width);
    sums += a;
    products += a * ((load(x, i, norm.width) - m.mean) * m.rstd);
  }
  const float mean_a = norm.rms ? 0 : sum(sums) / static_cast<float>(norm.width);
  const float along = sum(products) / static_cast<float>(norm.width);
  const auto gradient = [=](int64_t i) {
    return m.rstd * (dy[i] * w[i] - mean_a - (x[i] - m.mean) * m.rstd * along);
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
