#include "models/recursive/mixers.h"

#include <cmath>

#include "edelta/nn/net.h"
#include "edelta/ops/puzzle.h"
#include "edelta/ops/routing.h"
#include "edelta/ops/token_hybrid.h"

namespace edelta::models {
namespace {

using torch::Tensor;

constexpr double kMixerNormEps = 1e-5;

// A norm without weights, for ops that take one with.
ops::Norm unit_norm(const Tensor& x) {
  return {torch::ones({x.size(-1)}, x.options().requires_grad(false)), {}, true, kMixerNormEps};
}

class JpmhcMixer : public StreamMixer {
 public:
  explicit JpmhcMixer(const RecursiveConfig& config)
      : streams_(config.n_streams),
        cayley_{config.cayley_alpha, config.cayley_iters},
        fused_proj_(register_module(
            "fused_proj",
            torch::nn::Linear(config.hidden_size, 3 * config.n_streams * config.n_streams))) {}

  Mixed forward(const Tensor& x, const StreamSubLayer& f) override {
    const ops::Routed routed =
        ops::route(x, unit_norm(x), {fused_proj_->weight, fused_proj_->bias}, streams_, cayley_);
    return {routed.update(f(routed.aggregate)), {}};
  }

  // All gradients are alive at zero.
  void initialise(const RecursiveConfig&, at::Generator&) override {
    torch::nn::init::zeros_(fused_proj_->weight);
    torch::nn::init::zeros_(fused_proj_->bias);
  }

 private:
  int64_t streams_;
  ops::CayleyIteration cayley_;
  torch::nn::Linear fused_proj_;
};

// Rotation of streams and reflection of channels, per token; the sub-layer comes after them.
// Without the operator, only the routes to the sub-layer and back are left.
class EdeltaMixer : public StreamMixer {
 public:
  explicit EdeltaMixer(const RecursiveConfig& config)
      : streams_(config.n_streams),
        width_(config.hidden_size),
        geo_proj_(config.mixer_operator
                      ? register_module("geo_proj",
                                        std::make_shared<nn::Net>(width_, config.geo_hidden_dim,
                                                                  2 * streams_ + 2 + width_))
                      : nullptr),
        route_proj_(
            register_module("route_proj", torch::nn::Linear(width_, 2 * streams_ * streams_))) {}

  Mixed forward(const Tensor& x, const StreamSubLayer& f) override {
    const ops::TokenHybrid moved = move(x);
    const ops::Routed routed =
        ops::route(moved.y, unit_norm(moved.y), {route_proj_->weight, route_proj_->bias}, streams_);
    return {routed.update(f(routed.aggregate)), moved.gamma};
  }

  void initialise(const RecursiveConfig& config, at::Generator& generator) override {
    const torch::NoGradGuard no_grad;
    route_proj_->weight.zero_();
    route_proj_->bias.zero_();
    if (!geo_proj_) return;
    const auto layers = geo_proj_->layers();
    layers.first.weight.normal_(0, 0.02, generator);
    for (Tensor zero : {layers.first.bias, layers.second.weight, layers.second.bias}) zero.zero_();
    Tensor bias = layers.second.bias;
    if (config.mixer_init == MixerInit::live) {
      // With u = v = 0 neither ever moves, and with k = 0 its gradient is 1e8 times the others'.
      bias.narrow(0, 0, 2 * streams_).normal_(0, kLiveRotation, generator);
      bias.narrow(0, 2 * streams_ + 1, width_).normal_(0, 1 / std::sqrt(double(width_)), generator);
    }
    bias[bias.size(0) - 1] = config.init_gate_bias;
  }

 private:
  static constexpr double kLiveRotation = 0.1;

  ops::TokenHybrid move(const Tensor& x) {
    if (!geo_proj_) return {x, {}};
    return ops::token_hybrid(x, geo_proj_->forward(ops::rms_normalise(x, kMixerNormEps)), streams_);
  }

  int64_t streams_, width_;
  std::shared_ptr<nn::Net> geo_proj_;  // null without an operator
  torch::nn::Linear route_proj_;
};

}  // namespace

std::shared_ptr<StreamMixer> make_mixer(const RecursiveConfig& config) {
  if (config.mixer_type == Mixer::jpmhc) return std::make_shared<JpmhcMixer>(config);
  return std::make_shared<EdeltaMixer>(config);
}

}  // namespace edelta::models
