// SwiGLU, (silu(g) ⊙ u)·W_downᵀ with g and u the halves of x·W_gate_upᵀ: over the channels of a
// token, or over the positions of a sequence. With a norm it is y = N(x + SwiGLU(x)), N the RMS
// norm without weights along the dimension over which SwiGLU runs.
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct SwiGluForward {
  int64_t tokens = 0;
  int64_t width = 0;
  int64_t inner = 0;
  const float* x = nullptr;         // [tokens, width]
  const float* gate_up = nullptr;   // [2·inner, width]
  const float* down = nullptr;      // [width, inner]
  bool normed = false;              // y = N(x + SwiGLU(x)) in place of SwiGLU(x)
  float eps = 1e-5F;                // of the norm
  float* y = nullptr;               // [tokens, width]; overlaps no input
  float* rstd = nullptr;            // [tokens] or null: of the norm, saved for the backward pass
  float* pre_activation = nullptr;  // [tokens, 2·inner] or null: g and u, saved likewise
};

// Gradients are overwritten; each may be null when it isn't wanted.
struct SwiGluBackward {
  int64_t tokens = 0;
  int64_t width = 0;
  int64_t inner = 0;
  const float* x = nullptr;
  const float* gate_up = nullptr;
  const float* down = nullptr;
  const float* pre_activation = nullptr;
  const float* y = nullptr;     // with a norm, else null
  const float* rstd = nullptr;  // with a norm
  const float* dy = nullptr;    // [tokens, width]
  float* dx = nullptr;          // [tokens, width]
  float* dgate_up = nullptr;    // [2·inner, width]
  float* ddown = nullptr;       // [width, inner]
};

void swiglu_forward(const SwiGluForward& arguments);
void swiglu_backward(const SwiGluBackward& arguments);

// Over the positions T of sequences x [B, T, D], for each channel, and always with the norm:
// nothing is transposed but small blocks on the way back.
struct PositionSwiGluShape {
  int64_t batch = 0;
  int64_t positions = 0;  // T
  int64_t channels = 0;   // D
  int64_t inner = 0;
};

struct PositionSwiGluForward {
  PositionSwiGluShape shape;
  const float* x = nullptr;         // [B, T, D]
  const float* gate_up = nullptr;   // [2·inner, T]
  const float* down = nullptr;      // [T, inner]
  float eps = 1e-5F;                // of the norm
  float* y = nullptr;               // [B, T, D]; overlaps no input
  float* rstd = nullptr;            // [B, D] or null: saved for the backward pass
  float* pre_activation = nullptr;  // B·2·inner·D floats or null: saved likewise, in blocks
};

// Gradients are overwritten; each may be null when it isn't wanted.
struct PositionSwiGluBackward {
  PositionSwiGluShape shape;
  const float* x = nullptr;
  const float* gate_up = nullptr;
  const float* down = nullptr;
  const float* pre_activation = nullptr;
  const float* y = nullptr;
  const float* rstd = nullptr;
  const float* dy = nullptr;  // [B, T, D]
  float* dx = nullptr;        // [B, T, D]
  float* dgate_up = nullptr;  // [2·inner, T]
  float* ddown = nullptr;     // [T, inner]
};

void position_swiglu_forward(const PositionSwiGluForward& arguments);
void position_swiglu_backward(const PositionSwiGluBackward& arguments);

}  // namespace edelta::kernels
