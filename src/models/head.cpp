#include "models/head.h"

#include "edelta/ops/cross_entropy.h"
#include "edelta/ops/embedding.h"

namespace edelta::models {
namespace {

using torch::Tensor;
using torch::nn::Embedding;
using torch::nn::Linear;

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

  ops::Affine output() const override { return {output_proj_->weight, output_proj_->bias}; }
  Embedded embed(const Tensor& input) override {
    return {input_proj_->forward(input) + pos_emb_.narrow(1, 0, input.size(1)), output()};
  }
  Result finish(const Tensor& x, const ops::Norm& norm, const ops::Affine& output,
                const Batch& batch) const override {
    const Tensor prediction = ops::linear(x, norm, output);
    if (!batch.target.defined()) return {prediction, {}};
    return {prediction, torch::mse_loss(prediction, batch.target)};
  }
  std::vector<Tensor> tables() const override { return {pos_emb_}; }
  double weights_per_token() const override {
    return entries(input_proj_->weight) + entries(output_proj_->weight);
  }

 private:
  Tensor pos_emb_;
  Linear input_proj_, output_proj_;
};

// Indices in, logits out; cross-entropy without the targets −1. lm_head is tied to wte. The loss
// does not need the logits, which are larger than all else of the model.
class TokenHead : public HeadLayers {
 public:
  TokenHead(const ModelConfig& config, torch::nn::Module& transformer)
      : wte_(transformer.register_module("wte", Embedding(config.vocab_size, config.n_embd))),
        wpe_(transformer.register_module("wpe", Embedding(config.block_size, config.n_embd))) {}

  std::optional<TokenTables> token_tables() const override {
    return TokenTables{wte_->weight, wpe_->weight};
  }
  ops::Affine output() const override { return {wte_->weight, {}}; }
  Embedded embed(const Tensor& input) override {
    const auto [x, words] = ops::embedding(input, wte_->weight, wpe_->weight);
    return {x, {words, {}}};
  }
  Result finish(const Tensor& x, const ops::Norm& norm, const ops::Affine& output,
                const Batch& batch) const override {
    Result result;
    if (batch.wants_prediction) result.prediction = ops::linear(x, norm, output);
    if (batch.target.defined()) result.loss = ops::cross_entropy(x, norm, output, batch.target);
    return result;
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
