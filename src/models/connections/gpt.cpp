// GPT: x + F(LN x).
#include "models/connections/connections.h"

namespace edelta::models {
namespace {

class GptConnection : public Connection {
 public:
  torch::Tensor forward(const torch::Tensor& x, const PreNormSubLayer& f, Seen&) override {
    return f(x, {.residual = x});
  }
};

}  // namespace

std::unique_ptr<Connection> make_gpt_connection(const ModelConfig&, Site&) {
  return std::make_unique<GptConnection>();
}

}  // namespace edelta::models
