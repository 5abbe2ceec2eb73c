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
  explicit EnclosedSubLayer(double dropout) : dropout_(dropout) {}

  bool drops() const { return dropout_ > 0 && is_training(); }
  double dropout_probability() const { return drops() ? dropout_ : 0; }

  // first ∘ pre ∘ LN, as (normalised) input, norm and map for the op that starts with them.
  struct Entry {
    torch::Tensor x;
    ops::Norm norm;
    ops::Affine map;
  };
  static Entry enter(const torch::Tensor& x, const ops::Norm& norm, const Around& around,
                     const torch::nn::Linear& first);

  // residual + post · dropout(last(y)), given how to compute last(y) and the residual in one op.
  using Last = std::function<torch::Tensor(const ops::Affine& map, const torch::Tensor& residual)>;
  torch::Tensor leave(const Around& around, const torch::nn::Linear& last, const Last& apply) const;

  // The same two for decoding: maps with what stands beside them folded in, once for all tokens.
  static NormedMap folded_first(const ops::Norm& norm, const Around& around,
                                const torch::nn::Linear& first);
  static ops::Affine folded_last(const Around& around, const torch::nn::Linear& last);

 private:
  double dropout_;
};

}  // namespace edelta::nn
