// mHC: a = Σ_i H_pre,i x_i, repeated to width D;  y = F(LN a);  x' = H_res x + H_post ⊙ y, where
// the three mixers come from each token and H_res is made doubly stochastic by Sinkhorn's
// iteration.
#include <cmath>

#include "edelta/models/architecture_options.h"
#include "edelta/nn/norm.h"
#include "edelta/ops/sinkhorn.h"
#include "edelta/ops/streams.h"
#include "kernels/scratch.h"
#include "kernels/sinkhorn.h"
#include "kernels/stream.h"
#include "models/connections/connections.h"
#include "nn/row_map.h"

namespace edelta::models {
namespace {

using torch::Tensor;

constexpr double kInitialAlpha = 0.01;
constexpr double kInitialResidualLogit = 2;  // b_res = 2 I: close to the identity

class MhcDecoding : public ConnectionDecoding {
 public:
  // The logits of all three mixers, side by side in a row.
  MhcDecoding(nn::RowMap logits, int64_t streams, int64_t iterations,
              std::unique_ptr<nn::SubLayerDecoding> f)
      : logits_(std::move(logits)), n_(streams), iterations_(iterations), f_(std::move(f)) {}

  void operator()(const nn::Stretch& stretch, const float* x, float* y) override {
    kernels::Scratch scratch;
    const int64_t rows = stretch.rows(), width = logits_.in();
    const kernels::StreamShape shape{rows, n_, width / n_};
    float* z = scratch.floats(rows * logits_.out());
    float* pre = scratch.floats(rows * n_);
    float* post = scratch.floats(rows * n_);
    float* res = scratch.floats(rows * n_ * n_);
    float* aggregate = scratch.floats(rows * shape.width);
    float* answer = scratch.floats(rows * width);
    logits_(rows, x, z);
    for (int64_t i = 0; i < rows * n_; ++i) {
      const float* row = z + i / n_ * logits_.out() + i % n_;
      pre[i] = 1 / (1 + std::exp(-row[0]));
      post[i] = 2 / (1 + std::exp(-row[n_]));
    }
    kernels::sinkhorn_forward({{rows, n_, logits_.out()}, iterations_, z + 2 * n_, res});
    // Without an iteration the mixer is exp(Z), which the kernel does not make.
    for (int64_t i = 0; iterations_ == 0 && i < rows * n_ * n_; ++i) res[i] = std::exp(res[i]);
    kernels::stream_aggregate_forward({shape, x, pre, aggregate});
    (*f_)(stretch, aggregate, /*residual=*/nullptr, answer);
    kernels::stream_update_forward({shape, /*shared_y=*/false, x, res, post, answer, y});
  }

 private:
  nn::RowMap logits_;
  int64_t n_, iterations_;
  std::unique_ptr<nn::SubLayerDecoding> f_;
};

struct Mixers {
  Tensor pre, post;  // [B, T, n]
  Tensor res;        // [B, T, n, n]
  Tensor x;          // passed on
};

class MhcMixer : public torch::nn::Module {
 public:
  explicit MhcMixer(const ModelConfig& config)
      : n_(config.n_streams),
        iterations_(config.options.get<SinkhornOptions>().sinkhorn_iterations),
        rms_norm_(register_module("rms_norm", std::make_shared<nn::RmsNorm>(config.n_embd))),
        phi_pre_(register_module("phi_pre", phi(config.n_embd, n_))),
        phi_post_(register_module("phi_post", phi(config.n_embd, n_))),
        phi_res_(register_module("phi_res", phi(config.n_embd, n_ * n_))),
        alpha_pre_(register_parameter("alpha_pre", torch::full({}, kInitialAlpha))),
        alpha_post_(register_parameter("alpha_post", torch::full({}, kInitialAlpha))),
        alpha_res_(register_parameter("alpha_res", torch::full({}, kInitialAlpha))),
        b_pre_(register_parameter("b_pre", torch::zeros({n_}))),
        b_post_(register_parameter("b_post", torch::zeros({n_}))),
        b_res_(register_parameter("b_res", kInitialResidualLogit * torch::eye(n_))) {}

  Mixers forward(const Tensor& x) {
    // The three maps look at the same normalised token: one product for all.
    const Tensor phi = torch::cat({phi_pre_->weight, phi_post_->weight, phi_res_->weight});
    const auto mapped = ops::linear_with_input(x, rms_norm_->norm(), {phi, {}});
    const std::vector<Tensor> z = mapped.y.split_with_sizes({n_, n_, n_ * n_}, -1);
    return {torch::sigmoid(alpha_pre_ * z[0] + b_pre_),
            2 * torch::sigmoid(alpha_post_ * z[1] + b_post_),
            ops::sinkhorn(alpha_res_ * z[2].unflatten(-1, {n_, n_}) + b_res_, iterations_),
            mapped.x};
  }

  std::unique_ptr<ConnectionDecoding> decoding(std::unique_ptr<nn::SubLayerDecoding> f) const {
    const torch::NoGradGuard no_grad;
    const ops::Affine logits{
        torch::cat({alpha_pre_ * phi_pre_->weight, alpha_post_ * phi_post_->weight,
                    alpha_res_ * phi_res_->weight}),
        torch::cat({b_pre_, b_post_, b_res_.flatten()})};
    return std::make_unique<MhcDecoding>(nn::RowMap(rms_norm_->norm(), logits), n_, iterations_,
                                         std::move(f));
  }

  double weights_per_token() const {
    return matrix_entries(*phi_pre_) + matrix_entries(*phi_post_) + matrix_entries(*phi_res_);
  }

 private:
  static torch::nn::Linear phi(int64_t in, int64_t out) {
    return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false));
  }

  int64_t n_, iterations_;
  std::shared_ptr<nn::RmsNorm> rms_norm_;
  torch::nn::Linear phi_pre_, phi_post_, phi_res_;
  Tensor alpha_pre_, alpha_post_, alpha_res_, b_pre_, b_post_, b_res_;
};

class MhcConnection : public Connection {
 public:
  MhcConnection(const ModelConfig& config, Site& site)
      : n_(config.n_streams), mixer_(site.add("mhc", std::make_shared<MhcMixer>(config))) {}

  Tensor forward(const Tensor& x, const PreNormSubLayer& f, Seen& seen) override {
    const Mixers h = mixer_->forward(x);
    if (seen.record_operators) seen.operators.push_back(h.res);
    const auto aggregate = ops::stream_aggregate(h.pre, h.x);
    const Tensor y = f(aggregate.y, {.repeats = n_});
    return ops::stream_update(h.res, aggregate.x, h.post, y);
  }

  std::unique_ptr<ConnectionDecoding> decoding(const PreNormSubLayer& f,
                                               const nn::DecodingRoom& room) const override {
    return mixer_->decoding(f.decoding(room, {.repeats = n_}));
  }

  double weights_per_token(int64_t) const override { return mixer_->weights_per_token(); }

 private:
  int64_t n_;
  std::shared_ptr<MhcMixer> mixer_;
};

}  // namespace

std::unique_ptr<Connection> make_mhc_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<MhcConnection>(config, site);
}

}  // namespace edelta::models
