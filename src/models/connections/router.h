// Routing by token (JPmHC and the streamed EΔ): mixers from the logits Linear(LN(x)), n×n matrices
// side by side.
#pragma once

#include "edelta/torch.h"

#include <string>

#include "edelta/models/architecture_options.h"
#include "edelta/models/config.h"
#include "edelta/nn/norm.h"
#include "edelta/ops/routing.h"

namespace edelta::models {

class Router : public torch::nn::Module {
 public:
  // `matrices` n×n logits a token; the linear layer is registered under `projection_name`.
  Router(const ModelConfig& config, int64_t matrices, const std::string& projection_name);

  ops::Routed forward(const torch::Tensor& x);

  // `projection_init = identity`: all logits start at zero.
  void initialise();

 private:
  int64_t n_;
  ops::CayleyIteration cayley_;
  ProjectionInit projection_init_;
  std::shared_ptr<nn::LayerNorm> norm_;
  torch::nn::Linear projection_;
};

}  // namespace edelta::models
