#include "kernels/hybrid.h"

#include "kernels/isa/cayley_rotation.h"
#include "kernels/isa/direction.h"
#include "kernels/isa/parallel.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

void forward(const HybridForward& a, int64_t index) {
  const int64_t n = a.streams;
  Scratch scratch;
  const Rotation q(a.u + index * n, a.v + index * n, a.beta[index], n, scratch);
  const Direction direction(a.k + index * n, n, scratch);
  const double gamma = a.gamma[index];
  float* g = a.g + index * n * n;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const double turned = -q.f * q.entry(i, j);
      const double reflected = -2 * direction.k[i] * direction.k[j];
      g[i * n + j] =
          static_cast<float>((i == j ? 1.0 : 0.0) + gamma * turned + (1 - gamma) * reflected);
    }
  }
}

// dk = (1 − γ) of the gradient through k̂; returns k̂ᵀ dG k̂.
double reflection_backward(const Direction& direction, const float* dg, double gamma, int64_t n,
                           float* dk) {
  Scratch scratch;
  double* through = doubles(scratch, n);
  double* transposed = doubles(scratch, n);
  products(dg, direction.k, n, through, transposed);
  const double along = dot(direction.k, through, n);
  for (int64_t i = 0; i < n; ++i) {
    const double dk_unit = -2 * (through[i] + transposed[i]) + 4 * along * direction.k[i];
    dk[i] = static_cast<float>((1 - gamma) * dk_unit * direction.inverse_length);
  }
  return along;
}

void backward(const HybridBackward& a, int64_t index) {
  const int64_t n = a.streams;
  Scratch scratch;
  const Rotation q(a.u + index * n, a.v + index * n, a.beta[index], n, scratch);
  const Direction direction(a.k + index * n, n, scratch);
  const double gamma = a.gamma[index];
  const float* dg = a.dg + index * n * n;
  const double with_rotation =
      rotation_backward(q, dg, gamma, a.du + index * n, a.dv + index * n, a.dbeta + index);
  const double with_reflection = reflection_backward(direction, dg, gamma, n, a.dk + index * n);
  a.dgamma[index] = static_cast<float>(2 * with_reflection - q.f * with_rotation);
}

}  // namespace

void hybrid_forward(const HybridForward& a) {
  in_parallel(a.operators, [&](int64_t index) { forward(a, index); });
}

void hybrid_backward(const HybridBackward& a) {
#pragma omp parallel for
  for (int64_t index = 0; index < a.operators; ++index) backward(a, index);
}

}  // namespace edelta::kernels::EDELTA_ISA
