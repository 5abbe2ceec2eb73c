// y = [residual +] dropout(LN?(x)·Wᵀ + b): a linear layer with the layer norm (or RMS norm) before
// it, dropout and the residual addition after it.
#pragma once

#include <cstdint>

#include "kernels/dropout.h"

namespace edelta::kernels {

// A pointer that may be null is marked "or null": that part is then left out. `y` may be `residual`
// itself; no other output may overlap an input.
struct LinearForward {
  int64_t tokens = 0;
  int64_t in = 0;
  int64_t out = 0;
  const float* x = nullptr;            // [tokens, in]
  const float* norm_weight = nullptr;  // [in], or null: no layer norm
  const float* norm_bias = nullptr;    // [in] or null
  bool rms = false;                    // an RMS norm: the mean is not taken off
  float eps = 1e-5F;
  const float* weight = nullptr;  // [out, in]
  const float* bias = nullptr;    // [out] or null
  DropoutMask dropout = {};
  const float* residual = nullptr;  // [tokens, out] or null
  float* y = nullptr;               // [tokens, out]
  float* mean = nullptr;            // [tokens] or null: saved for the backward pass
  float* rstd = nullptr;            // [tokens] or null: 1/√(variance + eps), saved likewise
};

// Gradients are overwritten, not accumulated; each may be null when it isn't wanted. The gradient
// of a residual that is not x is dy itself. What flows to x on other ways (dy, where the residual
// was x) can be added on the way: `straight`.
struct LinearBackward {
  int64_t tokens = 0;
  int64_t in = 0;
  int64_t out = 0;
  const float* dy = nullptr;           // [tokens, out]
  const float* x = nullptr;            // [tokens, in]
  const float* norm_weight = nullptr;  // [in], or null: no layer norm
  const float* norm_bias = nullptr;    // [in] or null
  bool rms = false;                    // as in the forward pass
  const float* mean = nullptr;         // [tokens], with a layer norm
  const float* rstd = nullptr;         // [tokens], with a layer norm
  const float* weight = nullptr;       // [out, in]
  DropoutMask dropout = {};            // as in the forward pass
  const float* straight = nullptr;     // [tokens, in] or null: added to dx; may be dx itself
  float* dx = nullptr;                 // [tokens, in]
  float* dweight = nullptr;            // [out, in]
  float* dbias = nullptr;              // [out]
  float* dnorm_weight = nullptr;       // [in]
  float* dnorm_bias = nullptr;         // [in]
};

void linear_forward(const LinearForward& arguments);
void linear_backward(const LinearBackward& arguments);

}  // namespace edelta::kernels
