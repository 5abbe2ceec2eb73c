// Streamed EΔ: g = G_γ(x) from one joint net, then g + H_post (y repeated n times) with
// y = F(LN(mean_i (H_pre g)_i)) at width d, the routing from each token as in JPmHC.
#include "edelta/models/architecture_options.h"
#include "kernels/scratch.h"
#include "models/connections/connections.h"
#include "models/connections/geometric.h"
#include "models/connections/router.h"

namespace edelta::models {
namespace {

using torch::Tensor;

class EdeltaStreamDecoding : public ConnectionDecoding {
 public:
  EdeltaStreamDecoding(std::optional<GeometricDecoding> geo, RouterDecoding router, int64_t width)
      : geo_(std::move(geo)), router_(std::move(router)), width_(width) {}

  void operator()(const nn::Stretch& stretch, const float* x, float* y) override {
    if (!geo_) return router_(stretch, x, y);
    kernels::Scratch scratch;
    float* g = scratch.floats(stretch.rows() * width_);
    (*geo_)(stretch, x, g);
    router_(stretch, g, y);
  }

 private:
  std::optional<GeometricDecoding> geo_;
  RouterDecoding router_;
  int64_t width_;
};

class EdeltaStreamConnection : public Connection {
 public:
  EdeltaStreamConnection(const ModelConfig& config, Site& site)
      : geo_(config,
             make_generator(config, site, config.options.get<JointNetOptions>().geo_hidden_dim,
                            geometry::make_joint_generator)),
        router_(site.add("router", std::make_shared<Router>(config, 2, "proj"))),
        width_(config.n_embd) {}

  Tensor forward(const Tensor& x, const PreNormSubLayer& f, Seen& seen) override {
    const ops::Routed routed = router_->forward(geo_(x, seen));
    return routed.update(f(routed.aggregate));
  }

  std::unique_ptr<ConnectionDecoding> decoding(const PreNormSubLayer& f,
                                               const nn::DecodingRoom& room) const override {
    return std::make_unique<EdeltaStreamDecoding>(geo_.decoding(room),
                                                  router_->decoding(f.decoding(room)), width_);
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
  int64_t width_;
};

}  // namespace

std::unique_ptr<Connection> make_edelta_stream_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<EdeltaStreamConnection>(config, site);
}

}  // namespace edelta::models
