// Streamed EΔ: g = G_γ(x) from one joint net, then g + H_post (y repeated n times) with
// y = F(LN(mean_i (H_pre g)_i)) at width d, the routing from each token as in JPmHC.
#include "edelta/models/architecture_options.h"
#include "models/connections/connections.h"
#include "models/connections/geometric.h"
#include "models/connections/router.h"

namespace edelta::models {
namespace {

using torch::Tensor;

class EdeltaStreamConnection : public Connection {
 public:
  EdeltaStreamConnection(const ModelConfig& config, Site& site)
      : geo_(config,
             make_generator(config, site, config.options.get<JointNetOptions>().geo_hidden_dim,
                            geometry::make_joint_generator)),
        router_(site.add("router", std::make_shared<Router>(config, 2, "proj"))) {}

  Tensor forward(const Tensor& x, const PreNormSubLayer& f, Seen& seen) override {
    const ops::Routed routed = router_->forward(geo_(x, seen));
    return routed.update(f(routed.aggregate));
  }

  double weights_per_token(int64_t length) const override {
    return geo_.weights_per_token(length) + matrix_entries(*router_);
  }

  std::vector<Tensor> tables() const override { return geo_.tables(); }
  void initialise() override {
    geo_.initialise();
    router_->initialise();
  }

 private:
  GeometricResidual geo_;
  std::shared_ptr<Router> router_;
};

}  // namespace

std::unique_ptr<Connection> make_edelta_stream_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<EdeltaStreamConnection>(config, site);
}

}  // namespace edelta::models
