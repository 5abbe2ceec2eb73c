// DDL: z = x − β k (kᵀx), then z + F(LN z); k and β look at the pooled input.
#include "edelta/models/architecture_options.h"
#include "edelta/nn/net.h"
#include "edelta/ops/delta.h"
#include "edelta/ops/pooling.h"
#include "models/connections/connections.h"

namespace edelta::models {
namespace {

using torch::Tensor;

class DeltaOperator : public torch::nn::Module {
 public:
  explicit DeltaOperator(const ModelConfig& config)
      : pool_(config.options.get<PoolOptions>().pool),
        k_net_(register_module("k_net", net(config, config.n_embd))),
        beta_net_(register_module("beta_net", net(config, 1))) {}

  Tensor forward(const Tensor& x) {
    const auto pooled = ops::pool(x, pool_);
    const Tensor beta = 2 * torch::sigmoid(beta_net_->forward(pooled.y));
    return ops::delta(k_net_->forward(pooled.y), beta, pooled.x);
  }

  double weights_per_token(int64_t length) const {
    return matrix_entries(*this) * ops::pooled_per_token(pool_, length);
  }

 private:
  static std::shared_ptr<nn::Net> net(const ModelConfig& config, int64_t out) {
    const int64_t ratio = config.options.get<GeneratorNetOptions>().geo_hidden_ratio;
    return std::make_shared<nn::Net>(config.n_embd, config.n_embd / ratio, out);
  }

  ops::Pool pool_;
  std::shared_ptr<nn::Net> k_net_, beta_net_;
};

class DdlConnection : public Connection {
 public:
  DdlConnection(const ModelConfig& config, Site& site)
      : delta_(site.add("delta", std::make_shared<DeltaOperator>(config))) {}

  Tensor forward(const Tensor& x, const PreNormSubLayer& f, Seen&) override {
    const Tensor z = delta_->forward(x);
    return f(z, {.residual = z});
  }

  double weights_per_token(int64_t length) const override {
    return delta_->weights_per_token(length);
  }

 private:
  std::shared_ptr<DeltaOperator> delta_;
};

}  // namespace

std::unique_ptr<Connection> make_ddl_connection(const ModelConfig& config, Site& site) {
  return std::make_unique<DdlConnection>(config, site);
}

}  // namespace edelta::models
