// A register of floats at a time, for sums along a row: the compiler ends its own vectorised sums
// with scalar additions in a chain, which for short rows takes longer than the sum itself.
#pragma once

#include <cstdint>
#include <cstring>

namespace edelta::kernels::EDELTA_ISA {

#ifdef __AVX512F__
constexpr int64_t kLanes = 16;
#else
constexpr int64_t kLanes = 8;
#endif
using Lanes [[gnu::vector_size(kLanes * sizeof(float))]] = float;

// load() at the end of a row. Kept out of the loops, because it goes through memory.
[[gnu::noinline]] static Lanes load_end(const float* x, int64_t i, int64_t n, float fill) {
  Lanes values = Lanes{} + fill;
  for (int64_t lane = 0; i + lane < n; ++lane) values[lane] = x[i + lane];
  return values;
}

// x[i … i + kLanes), with `fill` in place of what lies beyond x[n).
static inline Lanes load(const float* x, int64_t i, int64_t n, float fill = 0) {
  if (i + kLanes > n) return load_end(x, i, n, fill);
  Lanes values;
  std::memcpy(&values, x + i, sizeof(values));
  return values;
}

static inline float sum(Lanes v) {
#ifdef __AVX512F__
  const auto eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  const auto eight = v;
#endif
  const auto four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                    __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
}

}  // namespace edelta::kernels::EDELTA_ISA
