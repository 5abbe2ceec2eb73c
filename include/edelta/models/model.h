// The abstract model: it takes a batch and gives what a training step, a probe or a user needs of
// it. A transformer on vectors, one on tokens and a model with a carried state are of its kind.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "edelta/models/config.h"
#include "edelta/nn/decoding.h"

namespace edelta::models {

struct Batch {
  torch::Tensor input;
  torch::Tensor target = {};  // undefined: only a prediction is wanted, there are no losses
  // Of the dropout masks, which are a function of it alone; unset: drawn from libtorch's generator.
  std::optional<uint64_t> dropout_key = {};
  // Where these sequences begin in the batch that the masks are of: they may be a part of it.
  int64_t first_sequence = 0;
  // false: the losses alone are, and a model may leave the prediction undefined that costs extra.
  bool wants_prediction = true;
  // A transformer keeps what enters its blocks alone, and the backward pass computes the rest
  // again: less memory, more time, the same numbers.
  bool recompute = false;
};

// What a model carries from one batch to the next, by name; empty at the start, and for models that
// carry nothing. Checkpoints keep it.
using State = std::map<std::string, torch::Tensor>;

// What a pass leaves behind besides its result.
struct Seen {
  // γ of every gated operator, in order: layer 0 attention, layer 0 MLP, layer 1 attention, …
  std::vector<torch::Tensor> gates = {};
  // With `record_operators`, every residual operator on streams, [B, 1 or T, n, n], in that order.
  bool record_operators = false;
  std::vector<torch::Tensor> operators = {};
  // With `record_residual`, the residual stream x_0 … x_L, [B, T, D]: what is embedded, and what
  // every block leaves.
  bool record_residual = false;
  std::vector<torch::Tensor> residual = {};
};

struct Loss {
  std::string name;
  torch::Tensor value;  // a scalar
};

struct Output {
  torch::Tensor prediction;
  // A step minimises their sum. The first is the task's own, which is reported and compared.
  std::vector<Loss> losses;
  Seen seen;
};

// A model on tokens for decoding (edelta/nn/decoding.h).
class ModelDecoding {
 public:
  virtual ~ModelDecoding() = default;
  // Tokens [sequences, length], each below the vocabulary → logits after the last position of each
  // sequence, [sequences, V].
  virtual void operator()(const nn::Stretch& stretch, const int32_t* tokens, float* logits) = 0;
};

class Model : public torch::nn::Module {
 public:
  explicit Model(ModelConfig config) : config_(std::move(config)) {}

  virtual Output forward(const Batch& batch, State& state, Seen seen) = 0;
  Output forward(const Batch& batch, State& state) { return forward(batch, state, {}); }

  // The prediction alone, without a state.
  torch::Tensor predict(const torch::Tensor& input);

  // The model for decoding, with the weights as they are now; null where it has no such way, which
  // float32 kernels are needed for.
  virtual std::unique_ptr<ModelDecoding> decoding(const nn::DecodingRoom& /*room*/) const {
    return nullptr;
  }

  // The floating-point operations of a training step by the plain algorithm: 6 a token for every
  // entry of the matrices that it meets, maps that can fold into each other counted once, also
  // where a step has too few tokens for that to pay and takes them one by one, plus causal
  // attention at 3.5 times its forward cost of 2·T·D a token and layer (half the square).
  virtual double step_gflop(int64_t batch, int64_t length) const = 0;

  const ModelConfig& config() const { return config_; }
  int64_t parameter_count() const;

 private:
  ModelConfig config_;
};

// What a transformer of this configuration has at least: known before anything is allocated.
double least_parameters(const ModelConfig& config);
// "the weights of 6 layers 128 wide", for messages about memory.
std::string weights_text(const ModelConfig& config);

// The model that the configuration names, with parameters initialised from `seed` alone.
std::shared_ptr<Model> make_model(const ModelConfig& config, uint64_t seed = 42);

}  // namespace edelta::models
