// A token's row of n·d numbers seen as n streams of width d, and what the connections do with it.
#pragma once

#include <cstdint>

namespace edelta::kernels {

// y_i = Σ_j G_ij x_j, with one operator G for each sequence or for each token.
struct StreamMixShape {
  int64_t batch;      // B
  int64_t tokens;     // T
  int64_t operators;  // 1 (one for the sequence) or T (one for each token)
  int64_t streams;    // n
  int64_t width;      // d
};

struct StreamMixForward {
  StreamMixShape shape;
  const float* x;  // [B, T, n, d]
  const float* g;  // [B, operators, n, n]
  float* y;        // [B, T, n, d]
};

struct StreamMixBackward {
  StreamMixShape shape;
  const float* x;           // [B, T, n, d]
  const float* g_backward;  // [B, operators, n, n]: dx = g_backwardᵀ·dy. G itself, except where the
                            // gradient is that of another operator (straight-through blending)
  const float* dy;          // [B, T, n, d]
  float* dx;                // [B, T, n, d], overwritten
  float* dg;                // [B, operators, n, n], overwritten
};

void stream_mix_forward(const StreamMixForward& arguments);
void stream_mix_backward(const StreamMixBackward& arguments);

struct StreamShape {
  int64_t tokens;   // N, over all sequences
  int64_t streams;  // n
  int64_t width;    // d
};

// x'_i = Σ_j H_ij x_j + post_i y_i, where y_i is the same y for all streams or has its own.
struct StreamUpdateForward {
  StreamShape shape;
  bool shared_y;      // y is [N, d] instead of [N, n, d]
  const float* x;     // [N, n, d]
  const float* h;     // [N, n, n]; null: the identity
  const float* post;  // [N, n]
  const float* y;     // [N, d] or [N, n, d]
  float* updated;     // [N, n, d]
};

struct StreamUpdateBackward {
  StreamShape shape;
  bool shared_y;
  const float* x;         // [N, n, d]; unused without h
  const float* h;         // [N, n, n]; null: the identity
  const float* post;      // [N, n]
  const float* y;         // [N, d] or [N, n, d]
  const float* dupdated;  // [N, n, d]
  float* dx;              // [N, n, d], overwritten; may be null without h, as it equals dupdated
  float* dh;              // [N, n, n], overwritten; unused without h
  float* dpost;           // [N, n], overwritten
  float* dy;              // as y, overwritten
};

void stream_update_forward(const StreamUpdateForward& arguments);
void stream_update_backward(const StreamUpdateBackward& arguments);

// a = Σ_j pre_j x_j.
struct StreamAggregateForward {
  StreamShape shape;
  const float* x;    // [N, n, d]
  const float* pre;  // [N, n]
  float* a;          // [N, d]
};

struct StreamAggregateBackward {
  StreamShape shape;
  const float* x;         // [N, n, d]
  const float* pre;       // [N, n]
  const float* da;        // [N, d]
  const float* straight;  // [N, n, d] or null: added to dx, what flows to x on other ways; may be
                          // dx itself
  float* dx;              // [N, n, d], overwritten
  float* dpre;            // [N, n], overwritten
};

void stream_aggregate_forward(const StreamAggregateForward& arguments);
void stream_aggregate_backward(const StreamAggregateBackward& arguments);

}  // namespace edelta::kernels
