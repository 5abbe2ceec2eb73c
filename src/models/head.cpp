#include "models/head.h"

namespace edelta::models {
namespace {

using torch::Tensor;
using torch::nn::Embedding;
using torch::nn::Linear;

constexpr int64_t kIgnoredTarget = -1;

double entries(const Tensor& tensor) { return static_cast<double>(tensor.numel()); }

// Vectors in, vectors out; mean squared error over all elements.
class ContinuousHead : public HeadLayers {
 public:
  ContinuousHead(const ModelConfig& config, torch::nn::Module& model)
      : pos_emb_(model.register_parameter("pos_emb",
                                          torch::empty({1, config.block_size, config.n_embd}))),
        input_proj_(model.register_module("input_proj", Linear(config.input_dim, config.n_embd))),
        output_proj_(
            model.register_module("output_proj", Linear(config.n_embd, config.input_dim))) {}

  Tensor embed(const Tensor& input) override {
    return input_proj_->forward(input) + pos_emb_.narrow(1, 0, input.size(1));
  }
  ops::Affine output() const override { return {output_proj_->weight, output_proj_->bias}; }
  Tensor loss(const Tensor& prediction, const Tensor& target) const override {
    return torch::mse_loss(prediction, target);
  }
  std::vector<Tensor> tables() const override { return {pos_emb_}; }
  double weights_per_token() const override {
    return entries(input_proj_->weight) + entries(output_proj_->weight);
  }

 private:
  Tensor pos_emb_;
  Linear input_proj_, output_proj_;
};

// Indices in, logits out; cross-entropy without the targets −1. lm_head is tied to wte.
class TokenHead : public HeadLayers {
 public:
  TokenHead(const ModelConfig& config, torch::nn::Module& transformer)
      : wte_(transformer.register_module("wte", Embedding(config.vocab_size, config.n_embd))),
        wpe_(transformer.register_module("wpe", Embedding(config.block_size, config.n_embd))) {}

  Tensor embed(const Tensor& input) override {
    return wte_->forward(input) + wpe_->weight.narrow(0, 0, input.size(1));
  }
  std::optional<TokenTables> token_tables() const override {
    return TokenTables{wte_->weight, wpe_->weight};
  }
  ops::Affine output() const override { return {wte_->weight, {}}; }
  Tensor loss(const Tensor& prediction, const Tensor& target) const override {
    return torch::cross_entropy_loss(prediction.flatten(0, -2), target.flatten(), /*weight=*/{},
                                     at::Reduction::Mean, kIgnoredTarget);
  }
  std::vector<Tensor> tables() const override { return {}; }
  double weights_per_token() const override { return entries(wte_->weight); }

 private:
  Embedding wte_, wpe_;
};

}  // namespace

std::unique_ptr<HeadLayers> make_head(const ModelConfig& config, torch::nn::Module& model,
                                      torch::nn::Module& transformer) {
  if (config.head == Head::continuous) return std::make_unique<ContinuousHead>(config, model);
  return std::make_unique<TokenHead>(config, transformer);
}

}  // namespace edelta::models
