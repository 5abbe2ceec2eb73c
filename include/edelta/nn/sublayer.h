// The two sub-layers F of a transformer block, attention and MLP (specification 2).
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <memory>

#include "edelta/nn/decoding.h"
#include "edelta/nn/norm.h"
#include "edelta/ops/dropout.h"

namespace edelta::nn {

// What stands around F in `residual + post · F(pre · LN(x))`; each part may be undefined.
struct Around {
  int64_t repeats = 1;          // x is one stream, to be repeated this often to the width of F
  torch::Tensor pre = {};       // [D, D]
  torch::Tensor post = {};      // [D, D]
  torch::Tensor residual = {};  // [B, T, D]
};

struct SubLayerOptions {
  int64_t width;
  int64_t heads;
  bool bias;
  double dropout;
  uint32_t first_dropout_site = 0;  // attention has two sites, its weights and its output; MLP one
};

class SubLayer : public torch::nn::Module {
 public:
  // `pass`: what dropout masks go by; it matters in training only.
  virtual torch::Tensor forward(const torch::Tensor& x, const ops::Norm& norm, const Around& around,
                                const ops::DropoutPass& pass) = 0;
  // The same for decoding, with the weights as they are now; residuals come with the rows.
  virtual std::unique_ptr<SubLayerDecoding> decoding(const ops::Norm& norm, const Around& around,
                                                     const DecodingRoom& room) const = 0;
};

std::shared_ptr<SubLayer> make_attention(const SubLayerOptions& options);
std::shared_ptr<SubLayer> make_mlp(const SubLayerOptions& options);

// F with the normalisation before it in one pass, as a connection sees it: f(x, {.residual = x}) is
// x + F(LN x).
class PreNormSubLayer {
 public:
  PreNormSubLayer(std::shared_ptr<LayerNorm> norm, std::shared_ptr<SubLayer> layer,
                  const ops::DropoutPass& pass = {})
      : norm_(std::move(norm)), layer_(std::move(layer)), pass_(pass) {}

  torch::Tensor operator()(const torch::Tensor& x, const Around& around = {}) const {
    return layer_->forward(x, norm_->norm(), around, pass_);
  }

  std::unique_ptr<SubLayerDecoding> decoding(const DecodingRoom& room,
                                             const Around& around = {}) const {
    return layer_->decoding(norm_->norm(), around, room);
  }

 private:
  std::shared_ptr<LayerNorm> norm_;
  std::shared_ptr<SubLayer> layer_;
  ops::DropoutPass pass_;
};

}  // namespace edelta::nn
