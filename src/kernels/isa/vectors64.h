// Short float64 vectors, and their products with small matrices: what the operators on streams are
// computed with.
#pragma once

#include <math.h>

#include <cstdint>

#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {

inline double dot(const double* a, const double* b, int64_t n) {
  double total = 0;
  for (int64_t i = 0; i < n; ++i) total += a[i] * b[i];
  return total;
}

inline void widen(const float* from, int64_t n, double* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}

inline void narrow(const double* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

inline double* doubles(Scratch& scratch, int64_t count) {
  return reinterpret_cast<double*>(scratch.floats(2 * count));
}

// What is left of n numbers after a projection counts as 0 up to this, relative to what was there.
inline double rounding_tolerance(int64_t n) {
  return 4 * __DBL_EPSILON__ * sqrt(static_cast<double>(n));
}

// to = G x
template <class Entry>
void product(const Entry* g, const double* x, int64_t n, double* to) {
  for (int64_t i = 0; i < n; ++i) {
    to[i] = 0;
    for (int64_t j = 0; j < n; ++j) to[i] += g[i * n + j] * x[j];
  }
}

// to = Gᵀ x
template <class Entry>
void transposed_product(const Entry* g, const double* x, int64_t n, double* to) {
  for (int64_t j = 0; j < n; ++j) to[j] = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) to[j] += g[i * n + j] * x[i];
  }
}

// to = G x and transposed = Gᵀ x.
template <class Entry>
void products(const Entry* g, const double* x, int64_t n, double* to, double* transposed) {
  for (int64_t i = 0; i < n; ++i) to[i] = transposed[i] = 0;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      to[i] += g[i * n + j] * x[j];
      transposed[j] += g[i * n + j] * x[i];
    }
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
