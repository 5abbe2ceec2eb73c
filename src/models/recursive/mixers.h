// What stands in place of the residual connection of the recursive model's blocks (specification
// 13.3): operators on n streams for each token, with a route through the sub-layer F of width d.
#pragma once

#include "edelta/torch.h"

#include <functional>
#include <memory>

#include "edelta/models/recursive_config.h"

namespace edelta::models {

using StreamSubLayer = std::function<torch::Tensor(const torch::Tensor&)>;  // [B, T, d] → same

struct Mixed {
  torch::Tensor y;      // [B, T, n·d]
  torch::Tensor gamma;  // [B, T, 1], undefined without a gate
};

class StreamMixer : public torch::nn::Module {
 public:
  // x [B, T, n·d]
  virtual Mixed forward(const torch::Tensor& x, const StreamSubLayer& f) = 0;
  virtual void initialise(const RecursiveConfig& config, at::Generator& generator) = 0;
};

std::shared_ptr<StreamMixer> make_mixer(const RecursiveConfig& config);

}  // namespace edelta::models
