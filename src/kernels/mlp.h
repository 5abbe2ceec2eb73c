// y = [residual +] dropout(W_proj·GELU(W_fc·LN?(x) + b_fc) + b_proj), GELU(z) = z·Φ(z) with the
// exact Φ.
#pragma once

#include <cstdint>

#include "kernels/dropout.h"

namespace edelta::kernels {

// A pointer that may be null is marked "or null": that part is then left out. `y` may be `residual`
// itself; no other output may overlap an input.
struct MlpForward {
  int64_t tokens = 0;
  int64_t in = 0;
  int64_t hidden = 0;
  int64_t out = 0;
  const float* x = nullptr;            // [tokens, in]
  const float* norm_weight = nullptr;  // [in], or null: no layer norm
  const float* norm_bias = nullptr;    // [in] or null
  float eps = 1e-5F;
  const float* fc_weight = nullptr;    // [hidden, in]
  const float* fc_bias = nullptr;      // [hidden] or null
  const float* proj_weight = nullptr;  // [out, hidden]
  const float* proj_bias = nullptr;    // [out] or null
  DropoutMask dropout = {};
  const float* residual = nullptr;  // [tokens, out] or null
  float* y = nullptr;               // [tokens, out]
  float* mean = nullptr;            // [tokens] or null: saved for the backward pass
  float* rstd = nullptr;            // [tokens] or null: 1/√(variance + eps), saved likewise
  float* pre_activation = nullptr;  // [tokens, hidden] or null: GELU's argument, saved likewise
};

// Gradients are overwritten, not accumulated; each may be null when it isn't wanted. The gradient
// of a residual that is not x is dy itself. What flows to x on other ways (dy, where the residual
// was x) can be added on the way: `straight`.
struct MlpBackward {
  int64_t tokens = 0;
  int64_t in = 0;
  int64_t hidden = 0;
  int64_t out = 0;
  const float* dy = nullptr;              // [tokens, out]
  const float* x = nullptr;               // [tokens, in]
  const float* norm_weight = nullptr;     // [in], or null: no layer norm
  const float* norm_bias = nullptr;       // [in] or null
  const float* mean = nullptr;            // [tokens], with a layer norm
  const float* rstd = nullptr;            // [tokens], with a layer norm
  const float* pre_activation = nullptr;  // [tokens, hidden]
  const float* fc_weight = nullptr;       // [hidden, in]
  const float* proj_weight = nullptr;     // [out, hidden]
  DropoutMask dropout = {};               // as in the forward pass
  const float* straight = nullptr;        // [tokens, in] or null: added to dx; may be dx itself
  float* dx = nullptr;                    // [tokens, in]
  float* dfc_weight = nullptr;            // [hidden, in]
  float* dfc_bias = nullptr;              // [hidden]
  float* dproj_weight = nullptr;          // [out, hidden]
  float* dproj_bias = nullptr;            // [out]
  float* dnorm_weight = nullptr;          // [in]
  float* dnorm_bias = nullptr;            // [in]
};

void mlp_forward(const MlpForward& arguments);
void mlp_backward(const MlpBackward& arguments);

}  // namespace edelta::kernels
