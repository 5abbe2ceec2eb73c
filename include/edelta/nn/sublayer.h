// The two sub-layers F of a transformer block, attention and MLP (specification 2).
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <memory>

#include "edelta/nn/decoding.h"
#include "edelta/nn/norm.h"

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
  // `dropout_key`: of the pass; it matters in training only.
  virtual torch::Tensor forward(const torch::Tensor& x, const ops::Norm& norm, const Around& around,
                                uint64_t dropout_key) = 0;
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
                  uint64_t dropout_key = 0)
      : norm_(std::move(norm)), layer_(std::move(layer)), dropout_key_(dropout_key) {}

  torch::Tensor operator()(const torch::Tensor& x, const Around& around = {}) const {
    return layer_->forward(x, norm_->norm(), around, dropout_key_);
  }

  std::unique_ptr<SubLayerDecoding> decoding(const DecodingRoom& room,
                                             const Around& around = {}) const {
    return layer_->decoding(norm_->norm(), around, room);
  }

 private:
  std::shared_ptr<LayerNorm> norm_;
  std::shared_ptr<SubLayer> layer_;
  uint64_t dropout_key_;
};

}  // namespace edelta::nn
