// The hybrid operator on streams, from its parameters: G = γ Q + (1 − γ) H₂(k), where Q is the
// Cayley rotation of M = (β/2)(u vᵀ − v uᵀ) in closed form. Computed in float64 inside, as the
// composite version is.
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct HybridForward {
  int64_t operators;   // N
  int64_t streams;     // n
  const float* u;      // [N, n]
  const float* v;      // [N, n]
  const float* beta;   // [N]
  const float* k;      // [N, n]
  const float* gamma;  // [N]
  float* g;            // [N, n, n]
};

struct HybridBackward {
  int64_t operators;
  int64_t streams;
  const float* u;
  const float* v;
  const float* beta;
  const float* k;
  const float* gamma;
  const float* dg;  // [N, n, n]
  // All overwritten.
  float* du;      // [N, n]
  float* dv;      // [N, n]
  float* dbeta;   // [N]
  float* dk;      // [N, n]
  float* dgamma;  // [N]
};

void hybrid_forward(const HybridForward& arguments);
void hybrid_backward(const HybridBackward& arguments);

}  // namespace edelta::kernels
