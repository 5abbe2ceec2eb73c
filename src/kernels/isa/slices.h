// Slices of a sequence: the unit of work of kernels that pass over tokens once, and the unit in
// which sums over a sequence are cut, so that they come out the same for any number of threads.
#pragma once

#include <cstdint>

namespace edelta::kernels::EDELTA_ISA {

// A few hundred KiB at most, so a second pass over the same slice still finds it in cache.
constexpr int64_t kSliceTokens = 64;

static inline int64_t slice_count(int64_t tokens) {
  return (tokens + kSliceTokens - 1) / kSliceTokens;
}

// Tokens [begin, end) of one sequence.
struct Slice {
  Slice(int64_t tokens, int64_t slice)
      : begin(slice * kSliceTokens),
        end(begin + kSliceTokens < tokens ? begin + kSliceTokens : tokens) {}
  int64_t begin, end;
};

// to = factor · Σ of the slices' parts, in their order.
static inline void add_slices(const float* parts, int64_t slices, int64_t count, float factor,
                              float* to) {
  for (int64_t i = 0; i < count; ++i) {
    float total = 0;
    for (int64_t s = 0; s < slices; ++s) total += parts[s * count + i];
    to[i] = factor * total;
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
