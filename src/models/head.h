// What turns a transformer's input into tokens of width D, its output into a prediction, and the
// prediction into a loss (specification 2).
#pragma once

#include <memory>
#include <optional>

#include "edelta/models/config.h"
#include "edelta/ops/linear.h"

namespace edelta::models {

// What tokens and positions are embedded with.
struct TokenTables {
  torch::Tensor wte, wpe;
};

class HeadLayers {
 public:
  virtual ~HeadLayers() = default;
  virtual torch::Tensor embed(const torch::Tensor& input) = 0;
  // Nothing for a head on vectors.
  virtual std::optional<TokenTables> token_tables() const { return {}; }
  // The last linear map.
  virtual ops::Affine output() const = 0;
  virtual torch::Tensor loss(const torch::Tensor& prediction,
                             const torch::Tensor& target) const = 0;
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
