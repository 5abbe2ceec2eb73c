// AdamW with decoupled weight decay and clipping by the global gradient norm (SPEC 5).
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <string>
#include <vector>

#include "edelta/io/safetensors.h"
#include "edelta/kernels/adamw.h"
#include "edelta/models/model.h"
#include "edelta/train/config.h"

namespace edelta::train {

// The moments of all parameters lie in two flat arrays; float32 on the CPU is updated in one fused
// sweep, anything else tensor by tensor.
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
  io::TensorMap state() const;
  void load_state(const io::TensorMap& state, int64_t steps, const std::string& source);

 private:
  struct Parameter {
    std::string name;
    torch::Tensor value, first, second;
    double weight_decay;
  };

  // What the kernels sweep over.
  struct Segments {
    std::vector<kernels::ParameterSegment> list;
    std::vector<torch::Tensor> gradients;  // keeps the memory behind the list alive
  };

  bool fused() const;
  Segments segments() const;
  void fused_step(double learning_rate, double scale);
  void composite_step(double learning_rate, double scale);

  Protocol protocol_;
  std::vector<Parameter> parameters_;
  int64_t steps_ = 0;
};

}  // namespace edelta::train
