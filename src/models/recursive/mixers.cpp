#include "models/recursive/mixers.h"

#include <cmath>

#include "edelta/nn/net.h"
#include "edelta/ops/cayley.h"
#include "edelta/ops/iterative_cayley.h"
#include "edelta/ops/puzzle.h"

namespace edelta::models {
namespace {

using torch::Tensor;

constexpr double kMixerNormEps = 1e-5;

// Σ_j w_j X_j → F → r_i y for every stream i, by the logits of two n×n matrices: y is the same for
// all streams, so of H_pre (softmax of rows) only the means of its columns count, and of H_post
// (softmax of columns) the sums of its rows.
Tensor routed(const Tensor& x, const Tensor& pre, const Tensor& post, const StreamSubLayer& f) {
  const Tensor weights = torch::softmax(pre, -1).mean(-2);  // [B, T, n]
  const Tensor shares = torch::softmax(post, -2).sum(-1);
  const Tensor y = f((weights.unsqueeze(-1) * x).sum(-2));
  return shares.unsqueeze(-1) * y.unsqueeze(-2);
}

// [B, T, parts·n²] → part `i` as matrices
Tensor matrices(const Tensor& logits, int64_t i, int64_t n) {
  return logits.narrow(-1, i * n * n, n * n).unflatten(-1, std::vector<int64_t>{n, n});
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
    const Tensor logits = fused_proj_(ops::rms_normalise(x.flatten(-2), kMixerNormEps));
    const Tensor mixer = ops::iterative_cayley(matrices(logits, 2, streams_), cayley_);
    const Tensor post = routed(x, matrices(logits, 0, streams_), matrices(logits, 1, streams_), f);
    return {mixer.matmul(x) + post, {}};
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
class EdeltaMixer : public StreamMixer {
 public:
  explicit EdeltaMixer(const RecursiveConfig& config)
      : streams_(config.n_streams),
        width_(config.hidden_size),
        geo_proj_(register_module(
            "geo_proj", std::make_shared<nn::Net>(config.hidden_size, config.geo_hidden_dim,
                                                  2 * streams_ + 2 + width_))),
        route_proj_(
            register_module("route_proj", torch::nn::Linear(width_, 2 * streams_ * streams_))) {}

  Mixed forward(const Tensor& x, const StreamSubLayer& f) override {
    const Tensor flat = x.flatten(-2);
    const auto parts = geo_proj_->forward(ops::rms_normalise(flat, kMixerNormEps))
                           .split_with_sizes({streams_, streams_, 1, width_, 1}, -1);
    const Tensor beta = torch::softplus(parts[2]);
    const Tensor gamma = torch::sigmoid(parts[4]);
    const Tensor rotated = ops::cayley_rotate(parts[0], parts[1], beta, x).flatten(-2);
    const Tensor k = direction(parts[3]);
    const Tensor reflected = flat - 2 * (k * flat).sum(-1, /*keepdim=*/true) * k;
    const Tensor moved = gamma * rotated + (1 - gamma) * reflected;
    const Tensor logits = route_proj_(ops::rms_normalise(moved, kMixerNormEps));
    const Tensor streams = moved.view_as(x);
    return {
        streams + routed(streams, matrices(logits, 0, streams_), matrices(logits, 1, streams_), f),
        gamma};
  }

  void initialise(const RecursiveConfig& config, at::Generator& generator) override {
    const torch::NoGradGuard no_grad;
    const auto layers = geo_proj_->layers();
    layers.first.weight.normal_(0, 0.02, generator);
    for (Tensor zero : {layers.first.bias, layers.second.weight, layers.second.bias,
                        route_proj_->weight, route_proj_->bias}) {
      zero.zero_();
    }
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

  // As published, with its constants: the mean of the components does not vanish at k = 0.
  static Tensor direction(const Tensor& k_raw) {
    const Tensor k = k_raw + 1e-8;
    return k / k.norm(2, -1, /*keepdim=*/true).clamp_min(1e-12);
  }

  int64_t streams_, width_;
  std::shared_ptr<nn::Net> geo_proj_;
  torch::nn::Linear route_proj_;
};

}  // namespace

std::shared_ptr<StreamMixer> make_mixer(const RecursiveConfig& config) {
  if (config.mixer_type == Mixer::jpmhc) return std::make_shared<JpmhcMixer>(config);
  return std::make_shared<EdeltaMixer>(config);
}

}  // namespace edelta::models
