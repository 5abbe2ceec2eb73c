// GPT: x + F(LN x), or as a control x + H_post F(H_pre LN x).
#include "models/connections/connections.h"
#include "models/connections/projection_maps.h"

namespace edelta::models {
namespace {

class GptDecoding : public ConnectionDecoding {
 public:
  explicit GptDecoding(std::unique_ptr<nn::SubLayerDecoding> f) : f_(std::move(f)) {}

  void operator()(const nn::Stretch& stretch, const float* x, float* y) override {
    (*f_)(stretch, x, x, y);
  }

 private:
  std::unique_ptr<nn::SubLayerDecoding> f_;
};

class GptConnection : public Connection {
 public:
  GptConnection(const ModelConfig& config, Site& site) : h_(config, site, Projections::off) {}

  torch::Tensor forward(const torch::Tensor& x, const PreNormSubLayer& f, Seen&) override {
    return f(x, {.pre = h_.pre(), .post = h_.post(), .residual = x});
  }

  std::unique_ptr<ConnectionDecoding> decoding(const PreNormSubLayer& f,
                                               const nn::DecodingRoom& room) const override {
    return std::make_unique<GptDecoding>(f.decoding(room, {.pre = h_.pre(), .post = h_.post()}));
  }

  void initialise() override { h_.initialise(); }

 private:
  ProjectionMaps h_;
};

}  // namespace

std::unique_ptr<Connection> make_gpt_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<GptConnection>(config, site);
}

}  // namespace edelta::models
