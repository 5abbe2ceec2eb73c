// Passes over the rows of matrices before and after the products.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/gemm.h"

namespace edelta::kernels::EDELTA_ISA {

template <typename Float>
static inline Float* at_or_null(Float* memory, int64_t at) {
  return memory == nullptr ? nullptr : memory + at;
}

// packed[in×out] = Wᵀ with rows of `stride` floats, W[out×in]: the form in which the products take
// a weight. Shared by the threads of the parallel region in which it is called.
static inline void shared_transpose(const float* weight, int64_t out, int64_t in, float* packed,
                                    int64_t stride) {
  constexpr int64_t kBlock = 16;
#pragma omp for collapse(2) schedule(static)
  for (int64_t i0 = 0; i0 < in; i0 += kBlock) {
    for (int64_t o0 = 0; o0 < out; o0 += kBlock) {
      const int64_t i1 = std::min(i0 + kBlock, in);
      const int64_t o1 = std::min(o0 + kBlock, out);
      for (int64_t o = o0; o < o1; ++o) {
        for (int64_t i = i0; i < i1; ++i) packed[i * stride + o] = weight[o * in + i];
      }
    }
  }
}

// y = residual + bias, to which a product is then added; each may be null. Starting from them,
// rather than adding them afterwards, brings y's lines into the cache in order before the product
// needs them.
static inline void start_rows(int64_t rows, int64_t n, const float* residual, const float* bias,
                              float* y) {
  for (int64_t r = 0; r < rows; ++r) {
    float* out = y + r * n;
    const float* in = residual + r * n;
    if (residual != nullptr && bias != nullptr) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) out[i] = in[i] + bias[i];
    } else if (residual != nullptr) {
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
