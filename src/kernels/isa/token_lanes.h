// One token to a lane: what a token does with its own n×n matrix, done for kLanes tokens at once.
#pragma once

#include <cstdint>

#include "kernels/isa/lanes.h"
#include "kernels/isa/parallel.h"
#include "kernels/isa/stream.h"
#include "kernels/isa/transpose.h"
#include "kernels/scratch.h"
#include "kernels/token_operator.h"

namespace edelta::kernels::EDELTA_ISA {

// Entry e of each of `tokens` ≤ kLanes rows, in lanes: to[e] = from[token·stride + e]. The lanes
// without a token are zero.
inline void load_tokens(const float* from, int64_t stride, int64_t tokens, int64_t entries,
                        Lanes* to) {
  if (tokens < kLanes) {
    for (int64_t e = 0; e < entries; ++e) to[e] = Lanes{};
  }
  transpose(from, stride, tokens, entries, reinterpret_cast<float*>(to), kLanes);
}

inline void store_tokens(const Lanes* from, int64_t tokens, int64_t entries, float* to,
                         int64_t stride) {
  transpose(reinterpret_cast<const float*>(from), kLanes, entries, tokens, to, stride);
}

inline Lanes* lanes(Scratch& scratch, int64_t count) {
  return reinterpret_cast<Lanes*>(scratch.floats(count * kLanes));
}

// Calls body<n>(first token, tokens) for every block of up to kLanes tokens, in parallel.
template <typename Body>
inline void for_token_blocks(const TokenOperatorShape& shape, const Body& body) {
  const int64_t blocks = (shape.tokens + kLanes - 1) / kLanes;
  in_parallel(blocks, [&](int64_t block) {
    const int64_t first = block * kLanes;
    const int64_t left = shape.tokens - first;
    with_streams(shape.streams, [&]<int kStreams>() {
      body.template operator()<kStreams>(first, left < kLanes ? left : kLanes);
    });
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
