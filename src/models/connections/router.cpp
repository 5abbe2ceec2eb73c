#include "models/connections/router.h"

#include "edelta/ops/sublayers.h"

namespace edelta::models {

using torch::Tensor;
namespace nn = torch::nn;

Router::Router(const ModelConfig& config, int64_t matrices, const std::string& projection_name)
    : n_(config.n_streams),
      projection_init_(config.projection_init),
      norm_(register_module("norm", std::make_shared<geometry::LayerNorm>(config.n_embd, true))),
      projection_(register_module(projection_name, nn::Linear(config.n_embd, matrices * n_ * n_))) {
}

ops::WithInput Router::forward(const Tensor& x) {
  const auto routed =
      ops::linear_with_input(x, norm_->norm(), {projection_->weight, projection_->bias});
  return {routed.y.unflatten(-1, {-1, n_, n_}), routed.x};
}

void Router::initialise() {
  if (projection_init_ == ProjectionInit::identity) nn::init::zeros_(projection_->weight);
}

}  // namespace edelta::models
