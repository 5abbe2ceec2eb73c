#include "models/recursive/block.h"

#include <algorithm>

namespace edelta::models {

using torch::Tensor;

RecursiveBlock::RecursiveBlock(const RecursiveConfig& config) : config_(config) {
  const bool mixed = config.mixer_type != Mixer::none;
  const int64_t width = mixed ? config.hidden_size / config.n_streams : config.hidden_size;
  if (config.mlp_t) {
    const int64_t positions = config.positions();
    mlp_t_ = register_module("mlp_t",
                             std::make_shared<SwiGlu>(positions, config.inner_width(positions)));
  } else {
    // Heads of the size that the whole width would have: the tables of positions fit both.
    const int64_t size = config.head_size();
    const int64_t heads = mixed ? std::max<int64_t>(1, width / size) : config.num_heads;
    attention_ = register_module("self_attn", std::make_shared<WholeAttention>(width, heads, size));
  }
  mlp_ = register_module("mlp", std::make_shared<SwiGlu>(width, config.inner_width(width)));
  if (mixed) {
    attention_mixer_ = register_module("attn_mixer", make_mixer(config));
    mlp_mixer_ = register_module("ffn_mixer", make_mixer(config));
  }
}

Tensor RecursiveBlock::forward(const Tensor& x, const ops::RotaryTables& rotary, LevelSeen& seen) {
  if (attention_mixer_) {
    const auto attention = [&](const Tensor& a) { return attention_->forward(a, rotary); };
    const auto mlp = [&](const Tensor& a) { return mlp_->forward(a); };
    const Tensor y = mix(*attention_mixer_, x, attention, seen);
    return mix(*mlp_mixer_, y, mlp, seen);
  }
  const double eps = config_.rms_norm_eps;
  const Tensor y = mlp_t_ ? mlp_t_->normed_over_positions(x, eps)
                          : normalise(attention_->with_residual(x, rotary));
  return mlp_->normed(y, eps);
}

void RecursiveBlock::initialise(at::Generator& generator) {
  if (mlp_t_) mlp_t_->initialise(generator);
  if (attention_) attention_->initialise(generator);
  mlp_->initialise(generator);
  for (const auto& mixer : {attention_mixer_, mlp_mixer_}) {
    if (mixer) mixer->initialise(config_, generator);
  }
}

Tensor RecursiveBlock::normalise(const Tensor& x) const {
  return ops::rms_normalise(x, config_.rms_norm_eps);
}

Tensor RecursiveBlock::mix(StreamMixer& mixer, const Tensor& x, const StreamSubLayer& f,
                           LevelSeen& seen) const {
  const Mixed mixed = mixer.forward(x, f);
  if (mixed.gamma.defined()) {
    seen.gates.push_back(mixed.gamma);
    const Tensor loss = config_.gate_reg_weight * (4 * mixed.gamma * (1 - mixed.gamma)).mean();
    seen.gate_loss = seen.gate_loss.defined() ? seen.gate_loss + loss : loss;
  }
  return normalise(mixed.y);
}

}  // namespace edelta::models
