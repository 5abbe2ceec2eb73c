// y = x/√(mean(x²) + ε) of each row: a root-mean-square norm without weights.
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct RmsNormForward {
  int64_t tokens = 0;
  int64_t width = 0;
  float eps = 1e-5F;
  const float* x = nullptr;  // [tokens, width]
  float* y = nullptr;        // [tokens, width]
  float* rstd = nullptr;     // [tokens] or null: 1/√(mean(x²) + ε), saved for the backward pass
};

// From the result, so that x need not be kept.
struct RmsNormBackward {
  int64_t tokens = 0;
  int64_t width = 0;
  const float* y = nullptr;     // [tokens, width]
  const float* rstd = nullptr;  // [tokens]
  const float* dy = nullptr;    // [tokens, width]
  float* dx = nullptr;          // [tokens, width], overwritten
};

void rms_norm_forward(const RmsNormForward& arguments);
void rms_norm_backward(const RmsNormBackward& arguments);

}  // namespace edelta::kernels
