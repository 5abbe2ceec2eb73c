// GELU without branches or tables, in a form that `#pragma omp simd` loops vectorise.
#pragma once

#include <cmath>

#include "kernels/isa/vector_exp.h"

namespace edelta::kernels::EDELTA_ISA {

// GELU(x) = x·Φ(x) = max(x, 0) − t·Φ(−t) with t = |x|. Φ(−t) is computed as 2^L(t), L a polynomial:
// log₂Φ(−t) is almost a parabola, so degree 7 gives t·Φ(−t) within 6e-8 on [0, 6] (minimax fits by
// the Remez exchange, error weighted as it enters the result). Beyond 6, t·Φ(−t) < 7e-9.
// A NaN comes through. max(x, 0) = (x + |x|)/2 and a copied sign stand where a condition on x would
// make the compiler compute both of its sides.

// t, as far as it matters.
static inline float gelu_distance(float x) {
  const float t = std::fabs(x);
  return t > 6.0F ? 6.0F : t;
}

// Φ(−t), 0 ≤ t ≤ 6.
static inline float normal_tail(float t) {
  float log2_tail = 6.11922709e-6F;
  log2_tail = log2_tail * t - 3.24785008e-5F;
  log2_tail = log2_tail * t - 0.000494708735F;
  log2_tail = log2_tail * t + 0.00750827919F;
  log2_tail = log2_tail * t - 0.0527846866F;
  log2_tail = log2_tail * t - 0.459120297F;
  log2_tail = log2_tail * t - 1.15111497F;
  log2_tail = log2_tail * t - 0.999999822F;
  return normal_exp2(log2_tail);
}

static inline float gelu(float x) {
  const float t = gelu_distance(x);
  return 0.5F * (x + std::fabs(x)) - t * normal_tail(t);
}

struct GeluAndSlope {
  float value, slope;
};

// GELU'(x) = Φ(x) + xφ(x), which is s for x < 0 and 1 − s otherwise, s = Φ(−t) − tφ(t). Dividing by
// 2^L(t), which is at hand, leaves a function that a polynomial of degree 9 meets so that s is
// within 1e-8, L's own error included.
static inline GeluAndSlope gelu_and_slope(float x) {
  const float t = gelu_distance(x);
  const float tail = normal_tail(t);
  float ratio = 7.79612658e-6F;
  ratio = ratio * t - 0.000108376132F;
  ratio = ratio * t + 0.000632305643F;
  ratio = ratio * t - 0.00186214219F;
  ratio = ratio * t + 0.00102525059F;
  ratio = ratio * t + 0.0184158083F;
  ratio = ratio * t - 0.108667524F;
  ratio = ratio * t - 0.636701244F;
  ratio = ratio * t - 0.797876928F;
  ratio = ratio * t + 0.999999883F;
  const float s = tail * ratio;
  return {0.5F * (x + std::fabs(x)) - t * tail, 0.5F + std::copysign(0.5F - s, x)};
}

}  // namespace edelta::kernels::EDELTA_ISA
