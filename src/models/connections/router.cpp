#include "models/connections/router.h"

namespace edelta::models {

using torch::Tensor;

Router::Router(const ModelConfig& config, int64_t matrices, const std::string& projection_name)
    : n_(config.n_streams),
      cayley_{config.options.get<IterativeCayleyOptions>().cayley_alpha,
              config.options.get<IterativeCayleyOptions>().cayley_iterations},
      projection_init_(config.options.get<ProjectionOptions>().projection_init),
      norm_(register_module("norm", std::make_shared<nn::LayerNorm>(config.n_embd, true))),
      projection_(
          register_module(projection_name, torch::nn::Linear(config.n_embd, matrices * n_ * n_))) {}

ops::Routed Router::forward(const Tensor& x) {
  return ops::route(x, norm_->norm(), {projection_->weight, projection_->bias}, n_, cayley_);
}

void Router::initialise() {
  if (projection_init_ == ProjectionInit::identity) torch::nn::init::zeros_(projection_->weight);
}

}  // namespace edelta::models
