// EΔ: g = G_γ(x), then g + H_post F(H_pre LN(g)).
#include "models/connections/connections.h"
#include "models/connections/geometric.h"

namespace edelta::models {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

class EdeltaConnection : public Connection {
 public:
  EdeltaConnection(const ModelConfig& config, Site& site)
      : projection_init_(config.projection_init),
        geo_(config, site.add("geo", make_generator(config, config.n_embd / config.geo_hidden_ratio,
                                                    geometry::make_net_generator))),
        h_pre_(site.add("h_pre", projection(config.n_embd))),
        h_post_(site.add("h_post", projection(config.n_embd))) {}

  Tensor forward(const Tensor& x, const Branch& f, Pass& pass) override {
    const Tensor g = geo_(x, pass);
    return f(g, {.pre = h_pre_->weight, .post = h_post_->weight, .residual = g});
  }

  void initialise() override {
    geo_.initialise();
    if (projection_init_ != ProjectionInit::identity) return;
    nn::init::eye_(h_pre_->weight);
    nn::init::eye_(h_post_->weight);
  }

 private:
  static nn::Linear projection(int64_t width) {
    return nn::Linear(nn::LinearOptions(width, width).bias(false));
  }

  ProjectionInit projection_init_;
  GeometricResidual geo_;
  nn::Linear h_pre_, h_post_;
};

}  // namespace

std::unique_ptr<Connection> make_edelta_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<EdeltaConnection>(config, site);
}

}  // namespace edelta::models
