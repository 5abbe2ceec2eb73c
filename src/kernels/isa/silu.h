// The gate of SwiGLU, in a form that `#pragma omp simd` loops vectorise.
#pragma once

#include <cstdint>

#include "kernels/isa/vector_exp.h"

namespace edelta::kernels::EDELTA_ISA {

// 1/(1 + e^−x); 0 where e^−x overflows.
static inline float sigmoid(float x) { return 1.0F / (1.0F + vector_exp<float>(-x)); }

// h = silu(g) ⊙ u; h may be g.
static inline void gate(int64_t n, const float* g, const float* u, float* h) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) h[i] = g[i] * sigmoid(g[i]) * u[i];
}

// h again, and the gradients of g and u from that of h: silu'(g) = σ(g)·(1 + g·(1 − σ(g))). dg may
// be dh.
static inline void gate_backward(int64_t n, const float* g, const float* u, const float* dh,
                                 float* h, float* dg, float* du) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float s = sigmoid(g[i]);
    const float silu = g[i] * s;
    const float slope = s + silu * (1.0F - s);
    const float given = dh[i];
    h[i] = silu * u[i];
    dg[i] = given * u[i] * slope;
    du[i] = given * silu;
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
