// EΔ: g = G_γ(x), then g + H_post F(H_pre LN(g)).
#include "edelta/models/architecture_options.h"
#include "kernels/scratch.h"
#include "models/connections/connections.h"
#include "models/connections/geometric.h"
#include "models/connections/projection_maps.h"

namespace edelta::models {
namespace {

using torch::Tensor;

class EdeltaDecoding : public ConnectionDecoding {
 public:
  EdeltaDecoding(std::optional<GeometricDecoding> geo, std::unique_ptr<nn::SubLayerDecoding> f,
                 int64_t width)
      : geo_(std::move(geo)), f_(std::move(f)), width_(width) {}

  void operator()(const nn::Stretch& stretch, const float* x, float* y) override {
    if (!geo_) return (*f_)(stretch, x, x, y);
    kernels::Scratch scratch;
    float* g = scratch.floats(stretch.rows() * width_);
    (*geo_)(stretch, x, g);
    (*f_)(stretch, g, g, y);
  }

 private:
  std::optional<GeometricDecoding> geo_;
  std::unique_ptr<nn::SubLayerDecoding> f_;
  int64_t width_;
};

class EdeltaConnection : public Connection {
 public:
  EdeltaConnection(const ModelConfig& config, Site& site)
      : geo_(config,
             make_generator(config, site, generator_width(config), geometry::make_net_generator)),
        h_(config, site, Projections::on),
        width_(config.n_embd) {}

  Tensor forward(const Tensor& x, const PreNormSubLayer& f, Seen& seen) override {
    const Tensor g = geo_(x, seen);
    return f(g, {.pre = h_.pre(), .post = h_.post(), .residual = g});
  }

  std::unique_ptr<ConnectionDecoding> decoding(const PreNormSubLayer& f,
                                               const nn::DecodingRoom& room) const override {
    return std::make_unique<EdeltaDecoding>(
        geo_.decoding(room), f.decoding(room, {.pre = h_.pre(), .post = h_.post()}), width_);
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
  int64_t width_;
};

}  // namespace

std::unique_ptr<Connection> make_edelta_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<EdeltaConnection>(config, site);
}

}  // namespace edelta::models
