// What turns a transformer's input into tokens of width D, and its output into a prediction and a
// loss (specification 2).
#pragma once

#include <memory>
#include <optional>

#include "edelta/models/model.h"
#include "edelta/ops/linear.h"

namespace edelta::models {

// What tokens and positions are embedded with.
struct TokenTables {
  torch::Tensor wte, wpe;
};

class HeadLayers {
 public:
  virtual ~HeadLayers() = default;
  // Nothing for a head on vectors.
  virtual std::optional<TokenTables> token_tables() const { return {}; }
  // The last linear map.
  virtual ops::Affine output() const = 0;

  // Tokens of width D, and the last linear map as it is to be used on what becomes of them: where
  // its weight is the embedding's own, the gradients of both uses meet there.
  struct Embedded {
    torch::Tensor x;
    ops::Affine output;
  };
  virtual Embedded embed(const torch::Tensor& input) = 0;

  // From the last block's x, what the batch asks for; the loss is undefined without a target.
  struct Result {
    torch::Tensor prediction, loss;
  };
  virtual Result finish(const torch::Tensor& x, const ops::Norm& norm, const ops::Affine& output,
                        const Batch& batch) const = 0;
  // Learned tables that no module initialises.
  virtual std::vector<torch::Tensor> tables() const = 0;
  // Entries of the matrices that each token is multiplied with.
  virtual double weights_per_token() const = 0;
};

// Registers what the configuration's head has: in the model, or in its `transformer`, where the
// published names put it.
std::unique_ptr<HeadLayers> make_head(const ModelConfig& config, torch::nn::Module& model,
                                      torch::nn::Module& transformer);

}  // namespace edelta::models
