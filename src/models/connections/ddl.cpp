// DDL: z = x − β k (kᵀx), then z + F(LN z); k and β look at the pooled input.
#include <algorithm>
#include <cmath>

#include "edelta/models/architecture_options.h"
#include "edelta/nn/net.h"
#include "edelta/ops/delta.h"
#include "edelta/ops/pooling.h"
#include "kernels/delta.h"
#include "kernels/scratch.h"
#include "models/connections/connections.h"
#include "nn/row_map.h"
#include "nn/row_pool.h"

namespace edelta::models {
namespace {

using torch::Tensor;

// k/|k|, scaled by the largest entry first; 0 stays 0 (specification 1.2).
void make_unit(float* k, int64_t width) {
  double largest = 0, squares = 0;
  for (int64_t i = 0; i < width; ++i) largest = std::max(largest, std::abs(double{k[i]}));
  if (largest == 0) return;
  for (int64_t i = 0; i < width; ++i) squares += (k[i] / largest) * (k[i] / largest);
  const double factor = 1 / std::sqrt(squares) / largest;
  for (int64_t i = 0; i < width; ++i) k[i] = static_cast<float>(k[i] * factor);
}

class DdlDecoding : public ConnectionDecoding {
 public:
  DdlDecoding(nn::RowPool pool, nn::RowNet k_net, nn::RowNet beta_net,
              std::unique_ptr<nn::SubLayerDecoding> f)
      : pool_(std::move(pool)),
        k_net_(std::move(k_net)),
        beta_net_(std::move(beta_net)),
        f_(std::move(f)) {}

  void operator()(const nn::Stretch& stretch, const float* x, float* y) override {
    kernels::Scratch scratch;
    const int64_t rows = stretch.rows(), width = k_net_.out();
    float* k = scratch.floats(rows * width);
    float* beta = scratch.floats(rows);
    float* z = scratch.floats(rows * width);
    const float* pooled = pool_(stretch, x, z);
    k_net_(rows, pooled, k);
    beta_net_(rows, pooled, beta);
    for (int64_t row = 0; row < rows; ++row) {
      make_unit(k + row * width, width);
      beta[row] = 2 / (1 + std::exp(-beta[row]));
    }
    kernels::delta_forward({{1, rows, rows, width}, x, k, beta, z});
    (*f_)(stretch, z, z, y);
  }

 private:
  nn::RowPool pool_;
  nn::RowNet k_net_, beta_net_;
  std::unique_ptr<nn::SubLayerDecoding> f_;
};

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

  std::unique_ptr<ConnectionDecoding> decoding(const nn::DecodingRoom& room,
                                               std::unique_ptr<nn::SubLayerDecoding> f) const {
    const auto net = [](const nn::Net& of) {
      return nn::RowNet({}, of.layers().first, of.layers().second);
    };
    nn::RowNet k_net = net(*k_net_);
    nn::RowPool pool(pool_, k_net.out(), room);
    return std::make_unique<DdlDecoding>(std::move(pool), std::move(k_net), net(*beta_net_),
                                         std::move(f));
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

  std::unique_ptr<ConnectionDecoding> decoding(const PreNormSubLayer& f,
                                               const nn::DecodingRoom& room) const override {
    return delta_->decoding(room, f.decoding(room));
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
