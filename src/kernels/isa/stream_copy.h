// Copies to memory that won't be read soon.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstdint>

namespace edelta::kernels::EDELTA_ISA {

// to = factor · from, stored past the caches: without this, every line of `to` is read from memory
// before it is written, and pushes out a line that is still needed. Call stream_fence before
// another thread reads.
static inline void stream_copy(const float* from, int64_t count, float* to, float factor = 1) {
#ifdef __AVX512F__
  constexpr int64_t kLanes = 16;
  const auto store = [=](float* out, const float* in) {
    _mm512_stream_ps(out, factor * _mm512_loadu_ps(in));
  };
#else
  constexpr int64_t kLanes = 8;
  const auto store = [=](float* out, const float* in) {
    _mm256_stream_ps(out, factor * _mm256_loadu_ps(in));
  };
#endif
  const auto misaligned =
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) / sizeof(float) % kLanes);
  const int64_t head = std::min(count, (kLanes - misaligned) % kLanes);
  int64_t i = 0;
  for (; i < head; ++i) to[i] = factor * from[i];
  for (; i + kLanes <= count; i += kLanes) store(to + i, from + i);
  for (; i < count; ++i) to[i] = factor * from[i];
}

static inline void stream_fence() { _mm_sfence(); }

}  // namespace edelta::kernels::EDELTA_ISA
