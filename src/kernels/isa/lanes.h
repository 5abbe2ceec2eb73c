// Vectors of floats of the instruction set at hand, with the compiler's own arithmetic on them.
//
// Everything here lies in the instruction set's own namespace, so the linker can't exchange one
// set's code for the other's.
#pragma once

#include <cstdint>

namespace edelta::kernels::EDELTA_ISA {

#ifdef __AVX512F__
constexpr int kLanes = 16;
#else
constexpr int kLanes = 8;
#endif

template <int kWidth>
struct VectorOf {
  typedef float Type __attribute__((vector_size(kWidth * sizeof(float))));
  typedef uint32_t Bits __attribute__((vector_size(kWidth * sizeof(float))));
};
template <>
struct VectorOf<1> {
  using Type = float;
  using Bits = uint32_t;
};

template <int kWidth>
using Vector = typename VectorOf<kWidth>::Type;
using Lanes = Vector<kLanes>;

template <typename V>
constexpr int kWidthOf = sizeof(V) / sizeof(float);

template <typename V>
inline V load(const float* from) {
  V value;
  __builtin_memcpy(&value, from, sizeof(V));
  return value;
}

template <typename V>
inline void store(float* to, V value) {
  __builtin_memcpy(to, &value, sizeof(V));
}

template <typename V>
inline V larger(V a, V b) {
  return a > b ? a : b;
}

template <typename V>
struct Halves {
  Vector<kWidthOf<V> / 2> low, high;
};

// Σ over the lanes.
template <typename V>
inline float sum(V value) {
  if constexpr (kWidthOf<V> == 1) {
    return value;
  } else {
    const auto halves = __builtin_bit_cast(Halves<V>, value);
    return sum(halves.low + halves.high);
  }
}

// The largest of the lanes.
template <typename V>
inline float largest(V value) {
  if constexpr (kWidthOf<V> == 1) {
    return value;
  } else {
    const auto halves = __builtin_bit_cast(Halves<V>, value);
    return largest(larger(halves.low, halves.high));
  }
}

// Covers `count` channels by vectors as wide as possible: calls body<V>(begin, end) for each vector
// type V that has a part to do, where end − begin is a multiple of its width.
template <int kWidth = kLanes, typename Body>
inline void for_widths(int64_t count, const Body& body, int64_t begin = 0) {
  const int64_t end = begin + (count - begin) / kWidth * kWidth;
  if (end > begin) body.template operator()<Vector<kWidth>>(begin, end);
  if constexpr (kWidth > 1) {
    constexpr int kNext = kWidth > 4 ? kWidth / 2 : 1;
    if (end < count) for_widths<kNext>(count, body, end);
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
