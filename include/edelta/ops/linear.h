// Linear maps with the normalisation before them, dropout and the residual after them
// (specification 2), so that a fused version can keep a tile of tokens in cache from end to end.
#pragma once

#include "edelta/torch.h"

#include <cstdint>

#include "edelta/ops/dropout.h"

namespace edelta::ops {

constexpr double kLayerNormEps = 1e-5;
constexpr double kRmsNormEps = 1e-6;

// Learned scale and shift of a normalisation; undefined `weight`: no normalisation at all,
// undefined `bias`: no shift.
struct Norm {
  torch::Tensor weight;
  torch::Tensor bias;
  bool rms = false;  // by the root mean square alone (mHC), instead of a layer norm
  double rms_eps = kRmsNormEps;

  double eps() const { return rms ? rms_eps : kLayerNormEps; }
};

// y = x Wᵀ + b with `weight` [out, in]; undefined `bias`: none.
struct Affine {
  torch::Tensor weight;
  torch::Tensor bias;
};

torch::Tensor normalise(const torch::Tensor& x, const Norm& norm);

// residual + dropout(W LN(x) + b); an undefined residual counts as zero.
torch::Tensor linear(const torch::Tensor& x, const Norm& norm, const Affine& map,
                     const torch::Tensor& residual = {}, const Dropout& dropout = {});

// An op's result, and its input x passed on: what else uses x takes it from here, and the backward
// pass then adds the gradients of all uses in the sweep that computes the op's own.
struct WithInput {
  torch::Tensor y, x;
};
WithInput linear_with_input(const torch::Tensor& x, const Norm& norm, const Affine& map);

}  // namespace edelta::ops
