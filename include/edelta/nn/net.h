// The small nets that operators' generators are made of.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <vector>

#include "edelta/ops/linear.h"

namespace edelta::nn {

// Linear(in → hidden), GELU, Linear(hidden → out), with biases. The parameters are named by their
// place in the published models' sequence: "0.*" and "2.*".
class Net : public torch::nn::Module {
 public:
  Net(int64_t in, int64_t hidden, int64_t out);
  torch::Tensor forward(const torch::Tensor& x) const;
  torch::Tensor output_bias() const { return second_->bias; }

  struct Layers {
    ops::Affine first, second;
  };
  Layers layers() const {
    return {{first_->weight, first_->bias}, {second_->weight, second_->bias}};
  }
  // Several nets that look at the same input, as one: their first layers side by side, their second
  // layers as blocks on a diagonal. It gives their outputs one after the other.
  static Layers joined(const std::vector<const Net*>& nets);
  static torch::Tensor forward_all(const std::vector<const Net*>& nets, const torch::Tensor& x);

 private:
  torch::nn::Linear first_, second_;
};

}  // namespace edelta::nn
