// Passes over the rows of matrices before and after the products.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/gemm.h"

namespace edelta::kernels::EDELTA_ISA {

template <typename Float>
static inline Float* at_or_null(Float* memory, int64_t at) {
  return memory == nullptr ? nullptr : memory + at;
}

// y = residual + bias, to which a product is then added; each may be null. Starting from them,
// rather than adding them afterwards, brings y's lines into the cache in order before the product
// needs them.
static inline void start_rows(int64_t rows, int64_t n, const float* residual, const float* bias,
                              float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    float* out = y + r * n;
    const float* in = at_or_null(residual, r * n);
    if (in != nullptr && bias != nullptr) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) out[i] = in[i] + bias[i];
    } else if (in != nullptr) {
      if (in != out) std::memcpy(out, in, n * sizeof(float));
    } else if (bias != nullptr) {
      std::memcpy(out, bias, n * sizeof(float));
    }
  }
}

// How the product that follows start_rows must treat y.
static inline Gemm::C starting_form(const float* residual, const float* bias) {
  return residual == nullptr && bias == nullptr ? Gemm::C::overwrite : Gemm::C::accumulate;
}

// sums[n] += the rows of x.
static inline void add_rows(int64_t rows, int64_t n, const float* x, int64_t stride, float* sums) {
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = x + r * stride;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) sums[i] += row[i];
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
