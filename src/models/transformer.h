// The transformer, one for all connections, with its two heads (specification 2).
#pragma once

#include <memory>
#include <vector>

#include "edelta/models/connection.h"
#include "edelta/models/model.h"
#include "models/head.h"

namespace edelta::models {

// Attention, then MLP, each inside the architecture's connection.
class Block : public torch::nn::Module {
 public:
  Block(const ModelConfig& config, int64_t layer);
  torch::Tensor forward(const torch::Tensor& x, const ops::DropoutPass& pass, Seen& seen);
  // The two connections, attention first; null where they have no way to decode.
  std::vector<std::unique_ptr<ConnectionDecoding>> decoding(const nn::DecodingRoom& room) const;
  // Learned vectors that no module has.
  std::vector<torch::Tensor> tables() const;
  void initialise();
  double weights_per_token(int64_t length) const;

 private:
  // A sub-layer with its norm, and the connection around it.
  struct Connected {
    std::shared_ptr<nn::LayerNorm> norm;
    std::shared_ptr<nn::SubLayer> layer;
    std::unique_ptr<Connection> connection;

    torch::Tensor forward(const torch::Tensor& x, const ops::DropoutPass& pass, Seen& seen) const {
      return connection->forward(x, PreNormSubLayer(norm, layer, pass), seen);
    }
  };
  Connected attention_, mlp_;
};

class Transformer : public Model {
 public:
  Transformer(const ModelConfig& config, uint64_t seed);

  using Model::forward;
  Output forward(const Batch& batch, State& state, Seen seen) override;
  std::unique_ptr<ModelDecoding> decoding(const nn::DecodingRoom& room) const override;
  double step_gflop(int64_t batch, int64_t length) const override;

 private:
  void initialise(uint64_t seed);
  uint64_t dropout_key(const Batch& batch) const;

  std::unique_ptr<HeadLayers> head_;
  std::vector<std::shared_ptr<Block>> blocks_;
  std::shared_ptr<nn::LayerNorm> ln_f_;
};

}  // namespace edelta::models
