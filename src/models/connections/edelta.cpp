// EΔ: g = G_γ(x), then g + H_post F(H_pre LN(g)).
#include "edelta/models/architecture_options.h"
#include "models/connections/connections.h"
#include "models/connections/geometric.h"
#include "models/connections/projection_maps.h"

namespace edelta::models {
namespace {

using torch::Tensor;

class EdeltaConnection : public Connection {
 public:
  EdeltaConnection(const ModelConfig& config, Site& site)
      : geo_(config,
             make_generator(config, site, generator_width(config), geometry::make_net_generator)),
        h_(config, site, Projections::on) {}

  Tensor forward(const Tensor& x, const PreNormSubLayer& f, Seen& seen) override {
    const Tensor g = geo_(x, seen);
    return f(g, {.pre = h_.pre(), .post = h_.post(), .residual = g});
  }

  // H_pre and H_post fold into the sub-layer's maps.
  double weights_per_token(int64_t length) const override { return geo_.weights_per_token(length); }

  std::vector<Tensor> tables() const override { return geo_.tables(); }
  void initialise() override {
    geo_.initialise();
    h_.initialise();
  }

 private:
  static int64_t generator_width(const ModelConfig& config) {
    return config.n_embd / config.options.get<GeneratorNetOptions>().geo_hidden_ratio;
  }

  GeometricResidual geo_;
  ProjectionMaps h_;
};

}  // namespace

std::unique_ptr<Connection> make_edelta_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<EdeltaConnection>(config, site);
}

}  // namespace edelta::models
