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

// load() at the end of a row. Kept out of the loops, because it goes through memory.
[[gnu::noinline]] static Lanes load_end(const float* x, int64_t i, int64_t n, float fill) {
  Lanes values = Lanes{} + fill;
  for (int64_t lane = 0; i + lane < n; ++lane) values[lane] = x[i + lane];
  return values;
}

// x[i … i + kLanes), with `fill` in place of what lies beyond x[n).
static inline Lanes load(const float* x, int64_t i, int64_t n, float fill = 0) {
  return i + kLanes > n ? load_end(x, i, n, fill) : load<Lanes>(x + i);
}

template <typename V>
inline void store(float* to, V value) {
  __builtin_memcpy(to, &value, sizeof(V));
}

template <typename V>
inline V larger(V a, V b) {
  return a > b ? a : b;
}

// Lanes first, first + 1, … of a vector, half as many as it has.
template <int kFirst, typename V>
inline Vector<kWidthOf<V> / 2> half(V v) {
  constexpr int f = kFirst;
  if constexpr (kWidthOf<V> == 16) {
    return __builtin_shufflevector(v, v, f, f + 1, f + 2, f + 3, f + 4, f + 5, f + 6, f + 7);
  } else if constexpr (kWidthOf<V> == 8) {
    return __builtin_shufflevector(v, v, f, f + 1, f + 2, f + 3);
  } else {
    static_assert(kWidthOf<V> == 4);
    return __builtin_shufflevector(v, v, f, f + 1);
  }
}

// Combines all lanes into one, by halves; `combine` is commutative. (The compiler ends its own
// vectorised sums with a chain of scalar additions, which for short rows takes longer than the
// sum.)
template <typename V, typename Combine>
inline float reduce(V value, const Combine& combine) {
  if constexpr (kWidthOf<V> == 1) {
    return value;
  } else if constexpr (kWidthOf<V> == 2) {
    return combine(value[0], value[1]);
  } else {
    return reduce(combine(half<0>(value), half<kWidthOf<V> / 2>(value)), combine);
  }
}

template <typename V>
inline float sum(V value) {
  return reduce(value, [](auto a, auto b) { return a + b; });
}

// The sums of eight vectors in one, by pairs of lanes: a third of the instructions that eight times
// sum() takes.
inline Vector<8> sums(const Lanes (&v)[8]) {
  using Eight = Vector<8>;
  const auto narrow = []<typename V>(V lanes) -> Eight {
    if constexpr (kWidthOf<V> == 16) {
      return half<0>(lanes) + half<8>(lanes);
    } else {
      return lanes;
    }
  };
  const auto neighbours = [&](Lanes lanes_a, Lanes lanes_b) {
    const Eight a = narrow(lanes_a), b = narrow(lanes_b);
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
           __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
  };
  const auto pairs = [](Eight a, Eight b) {
    return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
           __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
  };
  const Eight a = pairs(neighbours(v[0], v[1]), neighbours(v[2], v[3]));
  const Eight b = pairs(neighbours(v[4], v[5]), neighbours(v[6], v[7]));
  return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11) +
         __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15);
}

template <typename V>
inline float largest(V value) {
  return reduce(value, [](auto a, auto b) { return larger(a, b); });
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
