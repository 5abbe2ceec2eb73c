#include "models/connections/router.h"

#include "kernels/iterative_cayley.h"
#include "kernels/mixer_weights.h"
#include "kernels/scratch.h"
#include "kernels/stream.h"

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

RouterDecoding Router::decoding(std::unique_ptr<nn::SubLayerDecoding> f) const {
  return {nn::RowMap(norm_->norm(), {projection_->weight, projection_->bias}), n_, cayley_,
          std::move(f)};
}

void RouterDecoding::operator()(const nn::Stretch& stretch, const float* x, float* y) {
  kernels::Scratch scratch;
  const int64_t rows = stretch.rows(), matrix = n_ * n_;
  const kernels::StreamShape shape{rows, n_, logits_.in() / n_};
  const kernels::TokenOperatorShape operators{rows, n_, logits_.out()};
  float* z = scratch.floats(rows * logits_.out());
  float* pre = scratch.floats(rows * n_);
  float* post = scratch.floats(rows * n_);
  float* aggregate = scratch.floats(rows * shape.width);
  float* answer = scratch.floats(rows * shape.width);
  float* h_res = logits_.out() == 3 * matrix ? scratch.floats(rows * matrix) : nullptr;
  logits_(rows, x, z);
  kernels::mixer_weights_forward({operators, z, z + matrix, pre, post});
  if (h_res != nullptr) {
    kernels::iterative_cayley_forward(
        {operators, cayley_.iterations, static_cast<float>(cayley_.alpha), z + 2 * matrix, h_res});
  }
  kernels::stream_aggregate_forward({shape, x, pre, aggregate});
  (*f_)(stretch, aggregate, /*residual=*/nullptr, answer);
  kernels::stream_update_forward({shape, /*shared_y=*/true, x, h_res, post, answer, y});
}

void Router::initialise() {
  if (projection_init_ == ProjectionInit::identity) torch::nn::init::zeros_(projection_->weight);
}

}  // namespace edelta::models
