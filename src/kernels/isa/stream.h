// What the stream kernels share: cutting the tokens among threads, and dot products between
// streams.
#pragma once

#include <cstdint>

#include "kernels/isa/lanes.h"
#include "kernels/isa/parallel.h"
#include "kernels/isa/slices.h"
#include "kernels/scratch.h"
#include "kernels/stream.h"

namespace edelta::kernels::EDELTA_ISA {

// Calls body<n>() with the number of streams as a constant where it is a usual one, so that loops
// over streams unroll into registers, and body<0>() otherwise.
template <typename Body>
inline void with_streams(int64_t streams, const Body& body) {
  switch (streams) {
    case 2:
      return body.template operator()<2>();
    case 4:
      return body.template operator()<4>();
    case 8:
      return body.template operator()<8>();
    default:
      return body.template operator()<0>();
  }
}

// Calls body<n>(first, last) for every slice [first, last) of the tokens, in parallel.
template <typename Body>
inline void for_token_slices(const StreamShape& shape, const Body& body) {
  in_parallel(slice_count(shape.tokens), [&](int64_t i) {
    const Slice slice(shape.tokens, i);
    with_streams(shape.streams, [&]<int kStreams>() {
      body.template operator()<kStreams>(slice.begin, slice.end);
    });
  });
}

// Only whole vectors are worth code of their own for each number of streams; the channels left over
// take the general one.
template <int kStreams, typename V>
constexpr int kStreamsFor = kWidthOf<V> == kLanes ? kStreams : 0;

// `kCount` vectors in registers, or as many as asked for in memory when kCount is 0.
template <typename V, int kCount>
class Accumulators {
 public:
  Accumulators(int64_t count, Scratch& scratch)
      : count_(kCount > 0 ? kCount : count), memory_(values_) {
    if constexpr (kCount == 0) {
      memory_ = reinterpret_cast<V*>(scratch.floats(count * kWidthOf<V>));
    }
  }
  V& operator[](int64_t i) { return kCount > 0 ? values_[i] : memory_[i]; }

  void clear() {
    for (int64_t i = 0; i < count_; ++i) (*this)[i] = V{};
  }

  // to[i] += Σ over the lanes of vector i.
  void add_sums_to(float* to) {
    for (int64_t i = 0; i < count_; ++i) to[i] += sum((*this)[i]);
  }

 private:
  int64_t count_;
  V* memory_;
  V values_[kCount > 0 ? kCount : 1];
};

}  // namespace edelta::kernels::EDELTA_ISA
