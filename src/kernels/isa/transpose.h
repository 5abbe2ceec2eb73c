// Weights in the form in which the products take them.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

namespace edelta::kernels::EDELTA_ISA {

// to[c·to_stride + r] = from[r·from_stride + c] for 8×8 elements: pairs of rows are interleaved by
// ones, then by twos, then by halves.
static inline void transpose_8x8(const float* from, int64_t from_stride, float* to,
                                 int64_t to_stride) {
  __m256 row[8];
  __m256 pair[8];
  for (int i = 0; i < 8; ++i) row[i] = _mm256_loadu_ps(from + i * from_stride);
  for (int i = 0; i < 8; i += 2) {
    pair[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
    pair[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    row[i] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0x44);
    row[i + 1] = _mm256_shuffle_ps(pair[i], pair[i + 2], 0xEE);
    row[i + 2] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0x44);
    row[i + 3] = _mm256_shuffle_ps(pair[i + 1], pair[i + 3], 0xEE);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * to_stride, _mm256_permute2f128_ps(row[i], row[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_stride, _mm256_permute2f128_ps(row[i], row[i + 4], 0x31));
  }
}

static inline void transpose_block(const float* from, int64_t rows, int64_t columns,
                                   int64_t from_stride, float* to, int64_t to_stride) {
  if (rows == 8 && columns == 8) return transpose_8x8(from, from_stride, to, to_stride);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to[c * to_stride + r] = from[r * from_stride + c];
  }
}

// packed[in×out] = Wᵀ with rows of `stride` floats, W[out×in]. Shared by the threads of the
// parallel region in which it is called. A unit of work reads whole cache lines and writes 16 runs.
static inline void shared_transpose(const float* weight, int64_t out, int64_t in, float* packed,
                                    int64_t stride) {
  constexpr int64_t kIn = 16;
  constexpr int64_t kOut = 256;
#pragma omp for collapse(2) schedule(static)
  for (int64_t i0 = 0; i0 < in; i0 += kIn) {
    for (int64_t o0 = 0; o0 < out; o0 += kOut) {
      for (int64_t o = o0; o < std::min(o0 + kOut, out); o += 8) {
        for (int64_t i = i0; i < std::min(i0 + kIn, in); i += 8) {
          transpose_block(weight + o * in + i, std::min<int64_t>(8, out - o),
                          std::min<int64_t>(8, in - i), in, packed + i * stride + o, stride);
        }
      }
    }
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
