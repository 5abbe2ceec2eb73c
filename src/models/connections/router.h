// Routing by token (JPmHC and the streamed EΔ): mixers from the logits Linear(LN(x)), n×n matrices
// side by side.
#pragma once

#include "edelta/torch.h"

#include <memory>
#include <string>

#include "edelta/models/architecture_options.h"
#include "edelta/models/config.h"
#include "edelta/nn/decoding.h"
#include "edelta/nn/norm.h"
#include "edelta/ops/routing.h"
#include "nn/row_map.h"

namespace edelta::models {

// Reads the streams of every row, lets the sub-layer answer, and writes to them.
class RouterDecoding {
 public:
  RouterDecoding(nn::RowMap logits, int64_t streams, const ops::CayleyIteration& cayley,
                 std::unique_ptr<nn::SubLayerDecoding> f)
      : logits_(std::move(logits)), n_(streams), cayley_(cayley), f_(std::move(f)) {}

  // x [rows, D] → y [rows, D].
  void operator()(const nn::Stretch& stretch, const float* x, float* y);

 private:
  nn::RowMap logits_;
  int64_t n_;
  ops::CayleyIteration cayley_;
  std::unique_ptr<nn::SubLayerDecoding> f_;
};

class Router : public torch::nn::Module {
 public:
  // `matrices` n×n logits a token; the linear layer is registered under `projection_name`.
  Router(const ModelConfig& config, int64_t matrices, const std::string& projection_name);

  ops::Routed forward(const torch::Tensor& x);
  // For decoding, with what the sub-layer makes of the aggregate.
  RouterDecoding decoding(std::unique_ptr<nn::SubLayerDecoding> f) const;

  // `projection_init = identity`: all logits start at zero.
  void initialise();

 private:
  int64_t n_;
  ops::CayleyIteration cayley_;
  ProjectionInit projection_init_;
  std::shared_ptr<nn::LayerNorm> norm_;
  torch::nn::Linear projection_;
};

}  // namespace edelta::models
