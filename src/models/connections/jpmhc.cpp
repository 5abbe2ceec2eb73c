// JPmHC: y = F(LN(mean_i (H_pre x)_i)) at width d;  x' = H_res x + H_post (y repeated n times), the
// three mixers from each token; H_res is nearly orthogonal, by a truncated Cayley iteration.
#include "models/connections/connections.h"
#include "models/connections/router.h"

namespace edelta::models {
namespace {

using torch::Tensor;

class JpmhcDecoding : public ConnectionDecoding {
 public:
  explicit JpmhcDecoding(RouterDecoding router) : router_(std::move(router)) {}

  void operator()(const nn::Stretch& stretch, const float* x, float* y) override {
    router_(stretch, x, y);
  }

 private:
  RouterDecoding router_;
};

class JpmhcConnection : public Connection {
 public:
  JpmhcConnection(const ModelConfig& config, Site& site)
      : router_(site.add("jpmhc", std::make_shared<Router>(config, 3, "fused_proj"))) {}

  Tensor forward(const Tensor& x, const PreNormSubLayer& f, Seen& seen) override {
    const ops::Routed routed = router_->forward(x);
    if (seen.record_operators) seen.operators.push_back(routed.h_res);
    return routed.update(f(routed.aggregate));
  }

  std::unique_ptr<ConnectionDecoding> decoding(const PreNormSubLayer& f,
                                               const nn::DecodingRoom& room) const override {
    return std::make_unique<JpmhcDecoding>(router_->decoding(f.decoding(room)));
  }

  double weights_per_token(int64_t) const override { return matrix_entries(*router_); }

  void initialise() override { router_->initialise(); }

 private:
  std::shared_ptr<Router> router_;
};

}  // namespace

std::unique_ptr<Connection> make_jpmhc_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<JpmhcConnection>(config, site);
}

}  // namespace edelta::models
