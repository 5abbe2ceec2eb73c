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
      : alpha_(config.cayley_alpha),
        iterations_(config.cayley_iterations),
        router_(site.add("jpmhc", std::make_shared<Router>(config, 3, "fused_proj"))) {}

  Tensor forward(const Tensor& x, const Branch& f, Pass& pass) override {
    const std::vector<Tensor> z = router_->forward(x);
    const Tensor h_res = ops::iterative_cayley(z[2], alpha_, iterations_);
    if (pass.record_operators) pass.operators.push_back(h_res);
    const auto [pre, post] = ops::mixer_weights(z[0], z[1]);
    const Tensor y = f(ops::stream_aggregate(pre, x));
    return ops::stream_update(h_res, x, post, y);
  }

  void initialise() override { router_->initialise(); }

 private:
  double alpha_;
  int64_t iterations_;
  std::shared_ptr<Router> router_;
};

}  // namespace

std::unique_ptr<Connection> make_jpmhc_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<JpmhcConnection>(config, site);
}

}  // namespace edelta::models
