#include "kernels/token_hybrid.h"

#include <math.h>

#include "kernels/isa/cayley_rotation.h"
#include "kernels/isa/lanes.h"
#include "kernels/isa/parallel.h"
#include "kernels/isa/slices.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// As published: added to every component of k', and the least length by which it is divided.
constexpr float kAdded = 1e-8F;
constexpr double kLeastLength = 1e-12;

float float_dot(const float* a, const float* b, int64_t n) {
  Lanes total{};
  for (int64_t i = 0; i < n; i += kLanes) total += load(a, i, n) * load(b, i, n);
  return sum(total);
}

double logistic(double x) { return 1 / (1 + exp(-x)); }
// ln(1 + e^x) without overflow.
double softplus(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }

// One token's operator: Q, k and γ.
struct Operator {
  Operator(const TokenHybridShape& shape, const float* parameters, Scratch& scratch)
      : n(shape.streams),
        d(shape.width),
        beta_raw(parameters[2 * n]),
        gamma(static_cast<float>(logistic(parameters[2 * n + 1 + n * d]))),
        q(parameters, parameters + n, static_cast<float>(softplus(beta_raw)), n, scratch),
        rotation(scratch.floats(n * n)),
        k(scratch.floats(n * d)) {
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        rotation[i * n + j] = static_cast<float>((i == j ? 1.0 : 0.0) - q.f * q.entry(i, j));
      }
    }
    const float* k_raw = parameters + 2 * n + 1;
    double squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int64_t c = 0; c < n * d; ++c) {
      k[c] = k_raw[c] + kAdded;
      squares += static_cast<double>(k[c]) * k[c];
    }
    const double length = sqrt(squares);
    free = length > kLeastLength;
    inverse_length = static_cast<float>(1 / (free ? length : kLeastLength));
#pragma omp simd
    for (int64_t c = 0; c < n * d; ++c) k[c] *= inverse_length;
  }

  int64_t n, d;
  double beta_raw;
  float gamma;
  Rotation q;
  float* rotation;  // Q [n×n]
  float* k;         // [D]
  float inverse_length;
  bool free;  // k has length 1, whatever the length of k'
};

void apply(const TokenHybridForward& a, int64_t token) {
  Scratch scratch;
  const int64_t all = a.shape.channels();
  const Operator o(a.shape, a.parameters + token * a.shape.parameters(), scratch);
  const float* x = a.x + token * all;
  float* y = a.y + token * all;
  const float rest = 1 - o.gamma;
  const float twice = 2 * rest * float_dot(o.k, x, all);
  for (int64_t i = 0; i < o.n; ++i) {
    float* y_i = y + i * o.d;
    const float* x_i = x + i * o.d;
    const float* k_i = o.k + i * o.d;
#pragma omp simd
    for (int64_t c = 0; c < o.d; ++c) y_i[c] = rest * x_i[c] - twice * k_i[c];
    for (int64_t j = 0; j < o.n; ++j) {
      const float weight = o.gamma * o.rotation[i * o.n + j];
      const float* x_j = x + j * o.d;
#pragma omp simd
      for (int64_t c = 0; c < o.d; ++c) y_i[c] += weight * x_j[c];
    }
  }
  a.gamma[token] = o.gamma;
}

// With C = dy Xᵀ over the streams: the gradient of Q is γ C, and that of γ is ⟨Q, C⟩ less
// dy·(x − 2(k·x)k).
void apply_backward(const TokenHybridBackward& a, int64_t token) {
  Scratch scratch;
  const int64_t all = a.shape.channels(), at = token * a.shape.parameters();
  const Operator o(a.shape, a.parameters + at, scratch);
  const int64_t n = o.n, d = o.d;
  const float* x = a.x + token * all;
  const float* dy = a.dy + token * all;
  float* dx = a.dx + token * all;
  float* du = a.dparameters + at;
  float* dbeta = du + 2 * n;
  float* dk = dbeta + 1;
  float* dgate = dk + all;
  const float rest = 1 - o.gamma;
  const float along_x = float_dot(o.k, x, all), along_dy = float_dot(o.k, dy, all);

  float* products = scratch.floats(n * n);
  double with_rotation = 0, with_x = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const float c_ij = float_dot(dy + i * d, x + j * d, d);
      products[i * n + j] = c_ij;
      with_rotation += static_cast<double>(o.rotation[i * n + j]) * c_ij;
      if (i == j) with_x += c_ij;
    }
  }
  rotation_backward(o.q, products, static_cast<double>(o.gamma), du, du + n, dbeta);
  *dbeta *= static_cast<float>(logistic(o.beta_raw));
  const double with_reflection = with_x - 2.0 * along_x * along_dy;
  const double given = a.dgamma != nullptr ? a.dgamma[token] : 0;
  *dgate = static_cast<float>((with_rotation - with_reflection + given) * o.gamma * rest);

  const float factor = -2 * rest * o.inverse_length;
  const float radial = o.free ? 2 * along_x * along_dy : 0;
#pragma omp simd
  for (int64_t c = 0; c < all; ++c) {
    dk[c] = factor * (along_dy * x[c] + along_x * dy[c] - radial * o.k[c]);
    dx[c] = rest * (dy[c] - 2 * along_dy * o.k[c]);
  }
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) {
      const float weight = o.gamma * o.rotation[i * n + j];
#pragma omp simd
      for (int64_t c = 0; c < d; ++c) dx[j * d + c] += weight * dy[i * d + c];
    }
  }
}

template <typename Arguments>
void for_tokens(const Arguments& a, void (*body)(const Arguments&, int64_t token)) {
  in_parallel(slice_count(a.shape.tokens), [&](int64_t i) {
    const Slice slice(a.shape.tokens, i);
    for (int64_t token = slice.begin; token < slice.end; ++token) body(a, token);
  });
}

}  // namespace

void token_hybrid_forward(const TokenHybridForward& a) { for_tokens(a, apply); }

void token_hybrid_backward(const TokenHybridBackward& a) { for_tokens(a, apply_backward); }

}  // namespace edelta::kernels::EDELTA_ISA
