// AdamW with decoupled weight decay (specification 5) on a list of tensors, and the gradient norm
// that clipping needs. Not differentiable.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <vector>

namespace edelta::ops {

// A parameter with its gradient (undefined: it is left alone) and its two moments.
struct OptimisedTensor {
  torch::Tensor value, gradient, first, second;
  double weight_decay = 0;
  torch::Tensor mean = {};  // of the parameter, running; undefined: none
};

struct AdamWStep {
  int64_t t = 1;  // counts from 1
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double gradient_scale = 1;  // below 1 when the gradient is clipped
  bool angle = false;         // by the angle of m̂ and √v̂ (AdamATan2)
  double mean_rate = 0;       // of the running means

  double bias_correction1() const;  // 1 − β₁ᵗ
  double bias_correction2() const;  // 1 − β₂ᵗ
};

// With g = gradient_scale · gradient:  p ← p (1 − lr · weight_decay),  m ← β₁ m + (1 − β₁) g,
// v ← β₂ v + (1 − β₂) g²,  p ← p − lr · m̂ / (√v̂ + eps) with the bias-corrected m̂ and v̂. By the
// angle the last is p ← p − lr/(1 − β₁ᵗ) · atan2(m, √v̂): nothing has to be added to √v̂, and no
// scale of the gradient matters. Then mean ← mean + (1 − mean_rate)(p − mean).
void adamw_step(const std::vector<OptimisedTensor>& tensors, const AdamWStep& step);

// Σ g² over all gradients.
double squared_norm(const std::vector<OptimisedTensor>& tensors);

}  // namespace edelta::ops
