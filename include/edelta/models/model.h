// The transformer, one for all architectures, with its two heads (SPEC 2).
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "edelta/models/config.h"
#include "edelta/models/connection.h"

namespace edelta::models {

// Attention, then MLP, each inside the architecture's connection.
class Block : public torch::nn::Module {
 public:
  explicit Block(const ModelConfig& config);
  torch::Tensor forward(const torch::Tensor& x, Pass& pass);
  void initialise();

 private:
  // A sub-layer with its norm, and the connection around it.
  struct Site {
    std::unique_ptr<Branch> f;
    std::unique_ptr<Connection> connection;
  };
  Site attention_, mlp_;
};

class Model : public torch::nn::Module {
 public:
  // Parameters are initialised from `seed` alone.
  explicit Model(const ModelConfig& config, uint64_t seed = 42);

  // Continuous head: [B, T, input_dim] → the same shape. Token head: indices [B, T] → logits
  // [B, T, vocab_size].
  torch::Tensor forward(const torch::Tensor& input, Pass& pass);
  torch::Tensor forward(const torch::Tensor& input);

  // Mean squared error over all elements, or cross-entropy without the targets −1.
  torch::Tensor loss(const torch::Tensor& prediction, const torch::Tensor& target) const;
  // The gate regulariser of a pass, times λ.
  torch::Tensor gate_loss(const Pass& pass) const;

  const ModelConfig& config() const { return config_; }
  int64_t parameter_count() const;

 private:
  torch::Tensor embed(const torch::Tensor& input);
  void initialise(uint64_t seed);

  ModelConfig config_;
  torch::Tensor pos_emb_;                                         // continuous head
  torch::nn::Linear input_proj_{nullptr}, output_proj_{nullptr};  // continuous head
  torch::nn::Embedding wte_{nullptr}, wpe_{nullptr};              // token head
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<LayerNorm> ln_f_;
};

}  // namespace edelta::models
