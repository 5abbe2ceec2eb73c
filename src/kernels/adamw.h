// AdamW over flat memory, also by the angle (AdamATan2) and with a running mean of the parameters,
// and the gradient norm that clipping needs.
#pragma once

#include <cstdint>

namespace edelta::kernels {

// One parameter tensor with its gradient and moments, each `count` floats.
struct ParameterSegment {
  float* parameter = nullptr;
  const float* gradient = nullptr;
  float* first_moment = nullptr;
  float* second_moment = nullptr;
  int64_t count = 0;
  float weight_decay = 0;
  float* mean = nullptr;  // of the parameter, running, or null
};

// With g = gradient_scale·gradient, per element, in this order:
//   p ← p·(1 − lr·weight_decay)
//   m ← β₁m + (1 − β₁)g,  v ← β₂v + (1 − β₂)g²
//   p ← p − lr/bias_correction1 · m / (√v/√bias_correction2 + eps)
// or, by the angle,
//   p ← p − lr/bias_correction1 · atan2(m, √v/√bias_correction2)
// and, where there is a running mean,
//   mean ← mean + (1 − mean_rate)(p − mean)
struct AdamWStep {
  const ParameterSegment* segments = nullptr;
  int64_t segment_count = 0;
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double bias_correction1 = 1;  // 1 − β₁ᵗ at step t = 1, 2, …
  double bias_correction2 = 1;  // 1 − β₂ᵗ
  double gradient_scale = 1;    // below 1 when the gradient is clipped
  bool angle = false;
  double mean_rate = 0;
};

// Σ g² of the gradients, summed in double over chunks that don't depend on the number of threads.
struct SquaredNorm {
  const ParameterSegment* segments = nullptr;
  int64_t segment_count = 0;
  double* total = nullptr;        // out
  double* per_segment = nullptr;  // out: [segment_count], or null
};

void adamw_step(const AdamWStep& arguments);
void squared_norm(const SquaredNorm& arguments);

}  // namespace edelta::kernels
