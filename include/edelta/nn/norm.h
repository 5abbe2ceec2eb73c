// Normalisations with their learned parameters; ops compute them together with what follows.
#pragma once

#include "edelta/torch.h"

#include <cstdint>

#include "edelta/ops/linear.h"

namespace edelta::nn {

// LayerNorm whose shift is optional.
class LayerNorm : public torch::nn::Module {
 public:
  LayerNorm(int64_t width, bool bias);
  ops::Norm norm() const { return {weight_, bias_}; }

 private:
  torch::Tensor weight_, bias_;
};

class RmsNorm : public torch::nn::Module {
 public:
  explicit RmsNorm(int64_t width);
  ops::Norm norm() const { return {weight_, {}, /*rms=*/true}; }

 private:
  torch::Tensor weight_;
};

}  // namespace edelta::nn
