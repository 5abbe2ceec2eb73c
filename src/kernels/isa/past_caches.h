// Stores to memory that won't be read soon, past the caches: without this, every line is read from
// memory before it is written, and pushes out a line that is still needed. Call fence_past_caches
// before another thread reads.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "kernels/isa/lanes.h"

namespace edelta::kernels::EDELTA_ISA {

// Whether a tensor takes more than half of a usual last cache (32 MiB where this was measured): it
// is then gone from there before it is read.
static inline bool outgrows_caches(int64_t floats) {
  constexpr int64_t kMostBytes = 16 << 20;
  return floats * static_cast<int64_t>(sizeof(float)) > kMostBytes;
}

// How many floats `at` lies beyond the last place to which store_past_caches can write.
static inline int64_t misaligned(const float* at) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(at) / sizeof(float) % kLanes);
}

static inline void store_past_caches(float* to, Lanes value) {
#ifdef __AVX512F__
  _mm512_stream_ps(to, value);
#else
  _mm256_stream_ps(to, value);
#endif
}

// to = factor · from
static inline void copy_past_caches(const float* from, int64_t count, float* to, float factor = 1) {
  const int64_t head = std::min(count, (kLanes - misaligned(to)) % kLanes);
  int64_t i = 0;
  for (; i < head; ++i) to[i] = factor * from[i];
  for (; i + kLanes <= count; i += kLanes)
    store_past_caches(to + i, factor * load<Lanes>(from + i));
  for (; i < count; ++i) to[i] = factor * from[i];
}

static inline void fence_past_caches() { _mm_sfence(); }

}  // namespace edelta::kernels::EDELTA_ISA
