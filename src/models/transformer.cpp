#include "models/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edelta/base/error.h"
#include "edelta/geometry/gate.h"
#include "edelta/models/architecture_options.h"
#include "edelta/models/registry.h"
#include "edelta/ops/implementation.h"
#include "models/recomputed_block.h"
#include "models/transformer_decoding.h"

namespace edelta::models {
namespace {

using torch::Tensor;

// At width d the configured number of heads may not divide: the largest one that does.
int64_t heads_at(int64_t width, int64_t heads) {
  heads = std::min(heads, width);
  while (width % heads != 0) --heads;
  return heads;
}

int64_t sublayer_width(const ModelConfig& config) {
  const bool narrow = find_architecture(config.model).sublayer_width == SubLayerWidth::stream;
  return narrow ? config.stream_width() : config.n_embd;
}

// Dropout sites are numbered through the model: what is embedded, then in every layer the weights
// and the output of attention, and the output of the MLP.
constexpr uint32_t kEmbeddingSite = 0;
constexpr uint32_t kSitesOfAttention = 2, kSitesOfLayer = 3;

nn::SubLayerOptions sublayer_options(const ModelConfig& config, uint32_t first_dropout_site) {
  const int64_t width = sublayer_width(config);
  return {width, heads_at(width, config.n_head), config.bias, config.dropout, first_dropout_site};
}

}  // namespace

double matrix_entries(const torch::nn::Module& module) {
  double entries = 0;
  for (const Tensor& parameter : module.parameters()) {
    if (parameter.dim() >= 2) entries += static_cast<double>(parameter.numel());
  }
  return entries;
}

Block::Block(const ModelConfig& config, int64_t layer) {
  const uint32_t first_site = 1 + static_cast<uint32_t>(layer) * kSitesOfLayer;
  const Architecture& architecture = find_architecture(config.model);
  const auto add = [&](const std::string& name, const std::string& norm_name,
                       std::shared_ptr<nn::SubLayer> layer) {
    auto norm = register_module(
        norm_name, std::make_shared<nn::LayerNorm>(sublayer_width(config), config.bias));
    register_module(name, layer);
    Site site(*this, name);
    return Connected{norm, layer, architecture.make_connection(config, site)};
  };
  attention_ = add("attn", "ln_1", nn::make_attention(sublayer_options(config, first_site)));
  mlp_ = add("mlp", "ln_2", nn::make_mlp(sublayer_options(config, first_site + kSitesOfAttention)));
}

Tensor Block::forward(const Tensor& x, const ops::DropoutPass& pass, Seen& seen) {
  return mlp_.forward(attention_.forward(x, pass, seen), pass, seen);
}

std::vector<std::unique_ptr<ConnectionDecoding>> Block::decoding(
    const nn::DecodingRoom& room) const {
  std::vector<std::unique_ptr<ConnectionDecoding>> both;
  for (const Connected* each : {&attention_, &mlp_}) {
    both.push_back(each->connection->decoding({each->norm, each->layer}, room));
  }
  return both;
}

std::vector<Tensor> Block::tables() const {
  std::vector<Tensor> all = attention_.connection->tables();
  for (const Tensor& table : mlp_.connection->tables()) all.push_back(table);
  return all;
}

void Block::initialise() {
  attention_.connection->initialise();
  mlp_.connection->initialise();
}

double Block::weights_per_token(int64_t length) const {
  double weights = 0;
  for (const Connected* each : {&attention_, &mlp_}) {
    weights += matrix_entries(*each->layer) + each->connection->weights_per_token(length);
  }
  return weights;
}

Transformer::Transformer(const ModelConfig& config, uint64_t seed) : Model(config) {
  auto transformer = std::make_shared<torch::nn::Module>("transformer");
  head_ = make_head(config, *this, *transformer);
  auto blocks = std::make_shared<torch::nn::Module>("h");
  for (int64_t i = 0; i < config.n_layer; ++i) {
    blocks_.push_back(
        blocks->register_module(std::to_string(i), std::make_shared<Block>(config, i)));
  }
  transformer->register_module("h", blocks);
  ln_f_ = transformer->register_module("ln_f",
                                       std::make_shared<nn::LayerNorm>(config.n_embd, config.bias));
  register_module("transformer", transformer);
  initialise(seed);
}

uint64_t Transformer::dropout_key(const Batch& batch) const {
  if (batch.dropout_key) return *batch.dropout_key;
  if (config().dropout == 0 || !is_training()) return 0;
  return static_cast<uint64_t>(torch::empty({1}, torch::kInt64).random_().item<int64_t>());
}

Output Transformer::forward(const Batch& batch, State&, Seen seen) {
  const int64_t length = batch.input.size(1);
  if (length > config().block_size) {
    throw InputError(fmt::format("a sequence has {} positions, but block_size is {}", length,
                                 config().block_size));
  }
  const auto recorded = [&](const Tensor& x) {
    if (seen.record_residual) seen.residual.push_back(x);
    return x;
  };
  const ops::DropoutPass pass{dropout_key(batch), batch.first_sequence,
                              batch.first_sequence * length};
  const HeadLayers::Embedded embedded = head_->embed(batch.input);
  Tensor x =
      recorded(ops::drop(embedded.x, {is_training() ? config().dropout : 0, pass.key,
                                      kEmbeddingSite, pass.first_sequence, pass.first_token}));
  // Recorded operators are of the pass itself.
  const bool recompute = batch.recompute && torch::GradMode::is_enabled() && !seen.record_operators;
  for (const auto& block : blocks_) {
    x = recorded(recompute ? forward_recomputed(block, x, pass, seen)
                           : block->forward(x, pass, seen));
  }
  const auto [prediction, loss] = head_->finish(x, ln_f_->norm(), embedded.output, batch);
  Output output{prediction, {}, std::move(seen)};
  if (!loss.defined()) return output;
  output.losses.push_back({"task", loss});
  if (!output.seen.gates.empty()) {
    const auto gate = config().options.get<HybridOptions>();
    output.losses.push_back({"gate", geometry::gate_loss(output.seen.gates, gate.gate_regulariser,
                                                         gate.gate_reg_weight)});
  }
  return output;
}

std::unique_ptr<ModelDecoding> Transformer::decoding(const nn::DecodingRoom& room) const {
  const std::optional<TokenTables> tables = head_->token_tables();
  if (!tables || !ops::use_fused({tables->wte})) return nullptr;
  std::vector<std::unique_ptr<ConnectionDecoding>> connections;
  for (const auto& block : blocks_) {
    for (auto& each : block->decoding(room)) {
      if (!each) return nullptr;
      connections.push_back(std::move(each));
    }
  }
  return std::make_unique<TransformerDecoding>(*tables, std::move(connections),
                                               nn::RowMap(ln_f_->norm(), head_->output()));
}

double Transformer::step_gflop(int64_t batch, int64_t length) const {
  double weights = head_->weights_per_token();
  for (const auto& block : blocks_) weights += block->weights_per_token(length);
  const double attention = 3.5 * 2 * static_cast<double>(length) *
                           static_cast<double>(sublayer_width(config())) *
                           static_cast<double>(config().n_layer);
  return 1e-9 * static_cast<double>(batch * length) * (6 * weights + attention);
}

void Transformer::initialise(uint64_t seed) {
  const torch::NoGradGuard no_grad;
  at::Generator generator = at::detail::createCPUGenerator(seed);
  const double deviation = config().init_std;
  const double projection_deviation =
      deviation / std::sqrt(2 * static_cast<double>(config().n_layer));
  const auto normal = [&](Tensor parameter, double std) {
    // Drawn in float64, so that the numbers do not depend on the model's dtype.
    parameter.copy_(torch::empty(parameter.sizes(), torch::kFloat64).normal_(0, std, generator));
  };
  for (auto& item : named_modules("", /*include_self=*/false)) {
    if (auto* linear = item.value()->as<torch::nn::Linear>()) {
      const bool projects = item.key().ends_with("c_proj");
      normal(linear->weight, projects ? projection_deviation : deviation);
      if (linear->bias.defined()) linear->bias.zero_();
    } else if (auto* embedding = item.value()->as<torch::nn::Embedding>()) {
      normal(embedding->weight, deviation);
    }
  }
  for (const Tensor& table : head_->tables()) normal(table, deviation);
  for (const auto& block : blocks_) {
    for (const Tensor& table : block->tables()) normal(table, deviation);
    block->initialise();
  }
}

}  // namespace edelta::models
