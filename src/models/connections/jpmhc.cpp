// JPmHC: y = F(LN(mean_i (H_pre x)_i)) at width d;  x' = H_res x + H_post (y repeated n times), the
// three mixers from each token; H_res is nearly orthogonal, by a truncated Cayley iteration.
#include "models/connections/connections.h"
#include "models/connections/router.h"

namespace edelta::models {
namespace {

using torch::Tensor;

class JpmhcConnection : public Connection {
 public:
  JpmhcConnection(const ModelConfig& config, Site& site)
      : router_(site.add("jpmhc", std::make_shared<Router>(config, 3, "fused_proj"))) {}

  Tensor forward(const Tensor& x, const Branch& f, Pass& pass) override {
    const ops::Routed routed = router_->forward(x);
    if (pass.record_operators) pass.operators.push_back(routed.residual);
    return ops::routed_update(routed, f(routed.aggregate));
  }

  void initialise() override { router_->initialise(); }

 private:
  std::shared_ptr<Router> router_;
};

}  // namespace

std::unique_ptr<Connection> make_jpmhc_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<JpmhcConnection>(config, site);
}

}  // namespace edelta::models
