// Attention of each sequence's newest position over the keys and values that are kept of it and of
// those before.
//
//   s_j = q·k_j/√s, p = softmax(s), out = Σ_j p_j v_j        per sequence and head
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct CachedAttention {
  int64_t sequences;    // B
  int64_t heads;        // h
  int64_t head_size;    // s
  int64_t positions;    // kept, the newest included
  int64_t capacity;     // of positions, from one head's keys to the next one's
  int64_t stride;       // floats from one sequence's query to the next one's
  const float* query;   // [B, h·s], strided
  const float* keys;    // [B, h, capacity, s]
  const float* values;  // [B, h, capacity, s]
  float* out;           // [B, h·s]
};

void cached_attention(const CachedAttention& arguments);

}  // namespace edelta::kernels
