// Routing logits: Linear(LN(x)) per token, n×n matrices side by side (JPmHC and the streamed EΔ).
#pragma once

#include "edelta/torch.h"

#include <string>

#include "edelta/geometry/modules.h"
#include "edelta/models/config.h"

namespace edelta::models {

class Router : public torch::nn::Module {
 public:
  // `matrices` n×n logits a token; the linear layer is registered under `projection_name`.
  Router(const ModelConfig& config, int64_t matrices, const std::string& projection_name);

  // x [B, T, D] → logits [B, T, matrices, n, n], with x passed on.
  ops::WithInput forward(const torch::Tensor& x);

  // `projection_init = identity`: all logits start at zero.
  void initialise();

 private:
  int64_t n_;
  ProjectionInit projection_init_;
  std::shared_ptr<geometry::LayerNorm> norm_;
  torch::nn::Linear projection_;
};

}  // namespace edelta::models
