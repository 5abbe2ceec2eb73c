// What attention and MLP share: a first and a last linear map, and what may stand beside them.
#pragma once

#include <functional>

#include "edelta/nn/sublayer.h"

namespace edelta::nn {

torch::nn::Linear make_linear(int64_t in, int64_t out, bool bias);
inline ops::Affine affine(const torch::nn::Linear& linear) {
  return {linear->weight, linear->bias};
}

// A linear map and the norm before it.
struct NormedMap {
  ops::Norm norm;
  ops::Affine map;
};

class EnclosedSubLayer : public SubLayer {
 protected:
  explicit EnclosedSubLayer(const SubLayerOptions& options)
      : dropout_(options.dropout), first_site_(options.first_dropout_site) {}

  // At the sub-layer's `index`-th site.
  ops::Dropout dropout(uint32_t index, const ops::DropoutPass& pass) const {
    return {is_training() ? dropout_ : 0, pass.key, first_site_ + index, pass.first_sequence,
            pass.first_token};
  }

  // first ∘ pre ∘ LN, as (normalised) input, norm and map for the op that starts with them.
  struct Entry {
    torch::Tensor x;
    ops::Norm norm;
    ops::Affine map;
  };
  static Entry enter(const torch::Tensor& x, const ops::Norm& norm, const Around& around,
                     const torch::nn::Linear& first);

  // residual + post · dropout(last(y)), given how to compute residual + last(y) with that dropout
  // in one op.
  using Last = std::function<torch::Tensor(const ops::Affine& map, const torch::Tensor& residual)>;
  static torch::Tensor leave(int64_t tokens, const Around& around, const torch::nn::Linear& last,
                             const ops::Dropout& dropout, const Last& apply);

  // The same two for decoding: maps with what stands beside them folded in, once for all tokens.
  static NormedMap folded_first(const ops::Norm& norm, const Around& around,
                                const torch::nn::Linear& first);
  static ops::Affine folded_last(const Around& around, const torch::nn::Linear& last);

 private:
  double dropout_;
  uint32_t first_site_;
};

}  // namespace edelta::nn
