// Dot products of a matrix's rows, in the order in which they lie in memory, with a few vectors.
#pragma once

#include <cstdint>

#include "kernels/isa/lanes.h"

namespace edelta::kernels::EDELTA_ISA {

// Rows of the matrix at a time: enough sums in flight to keep the FMA units busy.
constexpr int64_t kDotRows = 4;

// dots[v·stride + r] = Σ_i m[r·width + i]·x[v·width + i] for kRows rows and kVectors vectors.
template <int kRows, int kVectors>
inline void block_dots(const float* m, const float* x, int64_t width, float* dots, int64_t stride) {
  Lanes sums[kRows][kVectors] = {};
  const auto add = [&](auto load_at) {
    Lanes x_v[kVectors];
    for (int v = 0; v < kVectors; ++v) x_v[v] = load_at(x + v * width);
    for (int r = 0; r < kRows; ++r) {
      const Lanes m_r = load_at(m + r * width);
      for (int v = 0; v < kVectors; ++v) sums[r][v] += m_r * x_v[v];
    }
  };
  const int64_t whole = width / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    add([i](const float* from) { return load<Lanes>(from + i); });
  }
  if (whole < width) {
    add([=](const float* from) { return load_end(from, whole, width, 0); });
  }
  for (int v = 0; v < kVectors; ++v) {
    for (int r = 0; r < kRows; ++r) dots[v * stride + r] = sum(sums[r][v]);
  }
}

template <int kRows>
inline void some_dots(int64_t vectors, const float* m, const float* x, int64_t width, float* dots,
                      int64_t stride) {
  // Three vectors by four rows fill the registers of AVX2.
  int64_t v = 0;
  for (; v + 3 <= vectors; v += 3) {
    block_dots<kRows, 3>(m, x + v * width, width, dots + v * stride, stride);
  }
  if (vectors - v == 2) block_dots<kRows, 2>(m, x + v * width, width, dots + v * stride, stride);
  if (vectors - v == 1) block_dots<kRows, 1>(m, x + v * width, width, dots + v * stride, stride);
}

// The same for one vector, which needs more rows to have as many sums in flight.
constexpr int64_t kDotRowsOfOne = 8;
inline void dots_of_one(const float* m, const float* x, int64_t width, float* dots) {
  Lanes sums_of_rows[kDotRowsOfOne] = {};
  const int64_t whole = width / kLanes * kLanes;
  for (int64_t i = 0; i < whole; i += kLanes) {
    const Lanes x_i = load<Lanes>(x + i);
    for (int r = 0; r < kDotRowsOfOne; ++r) {
      sums_of_rows[r] += load<Lanes>(m + r * width + i) * x_i;
    }
  }
  if (whole < width) {
    const Lanes x_i = load_end(x, whole, width, 0);
    for (int r = 0; r < kDotRowsOfOne; ++r) {
      sums_of_rows[r] += load_end(m + r * width, whole, width, 0) * x_i;
    }
  }
  store(dots, sums(sums_of_rows));
}

// dots[v, r], rows of the matrix along a row of the result, whose length is `stride`.
inline void row_dots(int64_t rows, int64_t vectors, const float* m, const float* x, int64_t width,
                     float* dots, int64_t stride) {
  int64_t r = 0;
  if (vectors == 1) {
    for (; r + kDotRowsOfOne <= rows; r += kDotRowsOfOne) {
      dots_of_one(m + r * width, x, width, dots + r);
    }
  }
  for (; r + kDotRows <= rows; r += kDotRows) {
    some_dots<kDotRows>(vectors, m + r * width, x, width, dots + r, stride);
  }
  for (; r < rows; ++r) some_dots<1>(vectors, m + r * width, x, width, dots + r, stride);
}

}  // namespace edelta::kernels::EDELTA_ISA
