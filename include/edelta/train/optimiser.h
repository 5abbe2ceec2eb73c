// AdamW over a model's parameters, with clipping by the global gradient norm (specification 5).
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <string>
#include <vector>

#include "edelta/base/safetensors.h"
#include "edelta/models/model.h"
#include "edelta/ops/adamw.h"
#include "edelta/train/config.h"

namespace edelta::train {

// The moments of all parameters lie in two flat arrays.
class AdamW {
 public:
  AdamW(models::Model& model, const Protocol& protocol);

  // √Σ g² over all gradients, before clipping.
  double gradient_norm() const;

  // One step with the gradients clipped to the protocol's norm, given their norm.
  void step(double learning_rate, double gradient_norm);

  void zero_gradients();

  // The name of the first parameter whose gradient is not finite; empty if there is none.
  std::string first_non_finite_gradient() const;

  int64_t steps() const { return steps_; }
  double parameter_norm() const;

  // "first/<name>" and "second/<name>", and back.
  base::TensorMap state() const;
  void load_state(const base::TensorMap& state, int64_t steps, const std::string& source);

 private:
  struct Parameter {
    std::string name;
    torch::Tensor value, first, second;
    double weight_decay;
  };

  std::vector<ops::OptimisedTensor> tensors() const;

  Protocol protocol_;
  std::vector<Parameter> parameters_;
  int64_t steps_ = 0;
};

}  // namespace edelta::train
