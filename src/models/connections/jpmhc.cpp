// JPmHC: y = F(LN(mean_i (H_pre x)_i)) at width d;  x' = H_res x + H_post (y repeated n times), the
// three mixers from each token; H_res is nearly orthogonal, by a truncated Cayley iteration.
#include "edelta/ops/mixers.h"
#include "edelta/ops/streams.h"
#include "models/connections/connections.h"
#include "models/connections/router.h"

namespace edelta::models {
namespace {

using torch::Tensor;

class JpmhcConnection : public Connection {
 public:
  JpmhcConnection(const ModelConfig& config, Site& site)
      : cayley_{config.cayley_alpha, config.cayley_iterations},
        router_(site.add("jpmhc", std::make_shared<Router>(config, 3, "fused_proj"))) {}

  Tensor forward(const Tensor& x, const Branch& f, Pass& pass) override {
    const auto logits = router_->forward(x);
    const ops::Mixers h = ops::token_mixers(logits.y, cayley_);
    if (pass.record_operators) pass.operators.push_back(h.residual);
    const auto aggregate = ops::stream_aggregate(h.pre, logits.x);
    return ops::stream_update(h.residual, aggregate.x, h.post, f(aggregate.y));
  }

  void initialise() override { router_->initialise(); }

 private:
  ops::CayleyIteration cayley_;
  std::shared_ptr<Router> router_;
};

}  // namespace

std::unique_ptr<Connection> make_jpmhc_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<JpmhcConnection>(config, site);
}

}  // namespace edelta::models
