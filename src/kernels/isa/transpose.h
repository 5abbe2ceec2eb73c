// Transposition of a matrix in memory, the form in which a GEMM or a lane wants it.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

namespace edelta::kernels::EDELTA_ISA {

// 8×8 in registers: pairs, then quadruples, then halves change places.
inline void transpose_8x8(const float* in, int64_t in_stride, float* out, int64_t out_stride) {
  __m256 row[8], pair[8];
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) row[i] = _mm256_loadu_ps(in + i * in_stride);
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    pair[2 * i] = _mm256_unpacklo_ps(row[2 * i], row[2 * i + 1]);
    pair[2 * i + 1] = _mm256_unpackhi_ps(row[2 * i], row[2 * i + 1]);
  }
#pragma GCC unroll 2
  for (int i = 0; i < 2; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < 2; ++j) {
      const __m256 upper = pair[4 * i + j], lower = pair[4 * i + 2 + j];
      row[4 * i + 2 * j] = _mm256_shuffle_ps(upper, lower, 0x44);
      row[4 * i + 2 * j + 1] = _mm256_shuffle_ps(upper, lower, 0xEE);
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(out + i * out_stride, _mm256_permute2f128_ps(row[i], row[4 + i], 0x20));
    _mm256_storeu_ps(out + (4 + i) * out_stride, _mm256_permute2f128_ps(row[i], row[4 + i], 0x31));
  }
}

// out[cols×rows] = in[rows×cols]ᵀ.
inline void transpose(const float* in, int64_t in_stride, int64_t rows, int64_t cols, float* out,
                      int64_t out_stride) {
  const int64_t whole_rows = rows / 8 * 8;
  const int64_t whole_cols = cols / 8 * 8;
  for (int64_t i = 0; i < whole_rows; i += 8) {
    for (int64_t j = 0; j < whole_cols; j += 8) {
      transpose_8x8(in + i * in_stride + j, in_stride, out + j * out_stride + i, out_stride);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i < whole_rows ? whole_cols : 0; j < cols; ++j) {
      out[j * out_stride + i] = in[i * in_stride + j];
    }
  }
}

// packed[in×out] = Wᵀ with rows of `stride` floats, W[out×in]. Shared by the threads of the
// parallel region in which it is called. A unit of work reads whole cache lines and writes 16 runs.
static inline void shared_transpose(const float* weight, int64_t out, int64_t in, float* packed,
                                    int64_t stride) {
  constexpr int64_t kIn = 16;
  constexpr int64_t kOut = 256;
#pragma omp for collapse(2) schedule(static)
  for (int64_t i = 0; i < in; i += kIn) {
    for (int64_t o = 0; o < out; o += kOut) {
      transpose(weight + o * in + i, in, std::min(kOut, out - o), std::min(kIn, in - i),
                packed + i * stride + o, stride);
    }
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
