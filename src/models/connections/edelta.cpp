// EΔ: g = G_γ(x), then g + H_post F(H_pre LN(g)).
#include "edelta/models/architecture_options.h"
#include "models/connections/connections.h"
#include "models/connections/geometric.h"

namespace edelta::models {
namespace {

using torch::Tensor;

class EdeltaConnection : public Connection {
 public:
  EdeltaConnection(const ModelConfig& config, Site& site)
      : projection_init_(config.options.get<ProjectionOptions>().projection_init),
        geo_(config, site.add("geo", make_generator(config, generator_width(config),
                                                    geometry::make_net_generator))),
        h_pre_(site.add("h_pre", projection(config.n_embd))),
        h_post_(site.add("h_post", projection(config.n_embd))) {}

  Tensor forward(const Tensor& x, const PreNormSubLayer& f, Seen& seen) override {
    const Tensor g = geo_(x, seen);
    return f(g, {.pre = h_pre_->weight, .post = h_post_->weight, .residual = g});
  }

  // H_pre and H_post fold into the sub-layer's maps.
  double weights_per_token(int64_t length) const override { return geo_.weights_per_token(length); }

  void initialise() override {
    geo_.initialise();
    if (projection_init_ != ProjectionInit::identity) return;
    torch::nn::init::eye_(h_pre_->weight);
    torch::nn::init::eye_(h_post_->weight);
  }

 private:
  static int64_t generator_width(const ModelConfig& config) {
    return config.n_embd / config.options.get<GeneratorNetOptions>().geo_hidden_ratio;
  }
  static torch::nn::Linear projection(int64_t width) {
    return torch::nn::Linear(torch::nn::LinearOptions(width, width).bias(false));
  }

  ProjectionInit projection_init_;
  GeometricResidual geo_;
  torch::nn::Linear h_pre_, h_post_;
};

}  // namespace

std::unique_ptr<Connection> make_edelta_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<EdeltaConnection>(config, site);
}

}  // namespace edelta::models
