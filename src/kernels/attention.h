// Softmax attention, tile by tile: no T×T matrix is ever stored, nor a mask of that size.
//
//   S = Q·Kᵀ/√s (if causal, keys after the query masked), P = softmax(S), out = dropout(P)·V
//
// per batch and head. With rotary positions, Q and K are turned on the way to S.
//
// Of the dropout mask a plane is a head (b·h + head), a row a query and a column a key.
#pragma once

#include <cstdint>

#include "kernels/dropout.h"

namespace edelta::kernels {

struct AttentionShape {
  int64_t batch;      // B
  int64_t tokens;     // T
  int64_t heads;      // h
  int64_t head_size;  // s
};

// The cosines and sines of the angles by which each position turns its queries and keys, [T, s]: of
// the pairs of channels c and c + s/2, given twice, at either. Null: nothing is turned.
struct RotaryAngles {
  const float* cos = nullptr;
  const float* sin = nullptr;
};

struct AttentionForward {
  AttentionShape shape;
  const float* qkv;  // [B, T, 3·h·s]: q, k, v, each of h heads
  float* out;        // [B, T, h·s]
  float* lse;        // [B, h, T]: log Σ exp of each row of S, for the backward pass; may be null
  DropoutMask dropout = {};
  bool causal = true;
  RotaryAngles rotary = {};
};

struct AttentionBackward {
  AttentionShape shape;
  const float* qkv;   // [B, T, 3·h·s]
  const float* out;   // [B, T, h·s]
  const float* lse;   // [B, h, T]
  const float* dout;  // [B, T, h·s]
  float* dqkv;        // [B, T, 3·h·s], overwritten
  // As in the forward pass.
  DropoutMask dropout = {};
  bool causal = true;
  RotaryAngles rotary = {};
};

void attention_forward(const AttentionForward& arguments);
void attention_backward(const AttentionBackward& arguments);

}  // namespace edelta::kernels
