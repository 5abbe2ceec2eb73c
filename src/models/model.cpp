#include "edelta/models/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edelta/error.h"
#include "edelta/models/registry.h"

namespace edelta::models {
namespace {

using torch::Tensor;
namespace nn = torch::nn;

constexpr double kWeightDeviation = 0.02;
constexpr int64_t kIgnoredTarget = -1;

// At width d the configured number of heads may not divide: the largest one that does.
int64_t heads_at(int64_t width, int64_t heads) {
  heads = std::min(heads, width);
  while (width % heads != 0) --heads;
  return heads;
}

SubLayerOptions sublayer_options(const ModelConfig& config) {
  const bool narrow = find_architecture(config.model).branch_width == BranchWidth::stream;
  const int64_t width = narrow ? config.stream_width() : config.n_embd;
  return {width, heads_at(width, config.n_head), config.bias, config.dropout};
}

}  // namespace

Block::Block(const ModelConfig& config) {
  const SubLayerOptions options = sublayer_options(config);
  const Architecture& architecture = find_architecture(config.model);
  const auto add = [&](const std::string& name, const std::string& norm_name,
                       std::shared_ptr<SubLayer> layer) {
    auto norm = register_module(norm_name, std::make_shared<LayerNorm>(options.width, config.bias));
    auto branch = std::make_unique<Branch>(norm, register_module(name, std::move(layer)));
    models::Site site(*this, name);
    return Site{std::move(branch), architecture.make_connection(config, site)};
  };
  attention_ = add("attn", "ln_1", make_attention(options));
  mlp_ = add("mlp", "ln_2", make_mlp(options));
}

Tensor Block::forward(const Tensor& x, Pass& pass) {
  const Tensor mixed = attention_.connection->forward(x, *attention_.f, pass);
  return mlp_.connection->forward(mixed, *mlp_.f, pass);
}

void Block::initialise() {
  attention_.connection->initialise();
  mlp_.connection->initialise();
}

Model::Model(const ModelConfig& config, uint64_t seed) : config_(config) {
  validate(config);
  auto transformer = std::make_shared<nn::Module>("transformer");
  if (config.head == Head::continuous) {
    pos_emb_ = register_parameter("pos_emb", torch::empty({1, config.block_size, config.n_embd}));
    input_proj_ = register_module("input_proj", nn::Linear(config.input_dim, config.n_embd));
    output_proj_ = register_module("output_proj", nn::Linear(config.n_embd, config.input_dim));
  } else {
    wte_ = transformer->register_module("wte", nn::Embedding(config.vocab_size, config.n_embd));
    wpe_ = transformer->register_module("wpe", nn::Embedding(config.block_size, config.n_embd));
  }
  auto blocks = std::make_shared<nn::Module>("h");
  for (int64_t i = 0; i < config.n_layer; ++i) {
    blocks_.push_back(blocks->register_module(std::to_string(i), std::make_shared<Block>(config)));
  }
  transformer->register_module("h", blocks);
  ln_f_ =
      transformer->register_module("ln_f", std::make_shared<LayerNorm>(config.n_embd, config.bias));
  register_module("transformer", transformer);
  initialise(seed);
}

Tensor Model::embed(const Tensor& input) {
  const int64_t length = input.size(1);
  if (length > config_.block_size) {
    throw InputError(fmt::format("a sequence has {} positions, but block_size is {}", length,
                                 config_.block_size));
  }
  if (config_.head == Head::continuous) {
    return input_proj_->forward(input) + pos_emb_.narrow(1, 0, length);
  }
  return wte_->forward(input) + wpe_->weight.narrow(0, 0, length);
}

Tensor Model::forward(const Tensor& input, Pass& pass) {
  Tensor x = torch::dropout(embed(input), config_.dropout, is_training());
  for (const auto& block : blocks_) x = block->forward(x, pass);
  const bool continuous = config_.head == Head::continuous;
  const ops::Affine head = continuous ? ops::Affine{output_proj_->weight, output_proj_->bias}
                                      : ops::Affine{wte_->weight, {}};  // lm_head is tied to wte
  return ops::linear(x, ln_f_->norm(), head);
}

Tensor Model::forward(const Tensor& input) {
  Pass pass;
  return forward(input, pass);
}

Tensor Model::loss(const Tensor& prediction, const Tensor& target) const {
  if (config_.head == Head::continuous) return torch::mse_loss(prediction, target);
  return torch::cross_entropy_loss(prediction.flatten(0, -2), target.flatten(), /*weight=*/{},
                                   at::Reduction::Mean, kIgnoredTarget);
}

Tensor Model::gate_loss(const Pass& pass) const {
  return geometry::gate_loss(pass.gates, config_.gate_regulariser, config_.gate_reg_weight);
}

int64_t Model::parameter_count() const {
  int64_t count = 0;
  for (const Tensor& parameter : parameters()) count += parameter.numel();
  return count;
}

void Model::initialise(uint64_t seed) {
  const torch::NoGradGuard no_grad;
  at::Generator generator = at::detail::createCPUGenerator(seed);
  const double projection_deviation =
      kWeightDeviation / std::sqrt(2 * static_cast<double>(config_.n_layer));
  const auto normal = [&](Tensor parameter, double deviation) {
    // Drawn in float64, so that the numbers do not depend on the model's dtype.
    parameter.copy_(
        torch::empty(parameter.sizes(), torch::kFloat64).normal_(0, deviation, generator));
  };
  for (auto& item : named_modules("", /*include_self=*/false)) {
    if (auto* linear = item.value()->as<nn::Linear>()) {
      const bool projects = item.key().ends_with("c_proj");
      normal(linear->weight, projects ? projection_deviation : kWeightDeviation);
      if (linear->bias.defined()) linear->bias.zero_();
    } else if (auto* embedding = item.value()->as<nn::Embedding>()) {
      normal(embedding->weight, kWeightDeviation);
    }
  }
  if (pos_emb_.defined()) normal(pos_emb_, kWeightDeviation);
  for (const auto& block : blocks_) block->initialise();
}

}  // namespace edelta::models
