// The transformer's own parts (SPEC 2), each with the normalisation before it and the residual
// after it, so that a fused version can keep a tile of tokens in cache from end to end.
#pragma once

#include "edelta/torch.h"

#include <cstdint>

namespace edelta::ops {

constexpr double kLayerNormEps = 1e-5;
constexpr double kRmsNormEps = 1e-6;

// Learned scale and shift of a normalisation; undefined `weight`: no normalisation at all,
// undefined `bias`: no shift.
struct Norm {
  torch::Tensor weight;
  torch::Tensor bias;
  bool rms = false;  // by the root mean square alone (mHC), instead of a layer norm

  double eps() const { return rms ? kRmsNormEps : kLayerNormEps; }
};

// y = x Wᵀ + b with `weight` [out, in]; undefined `bias`: none.
struct Affine {
  torch::Tensor weight;
  torch::Tensor bias;
};

torch::Tensor normalise(const torch::Tensor& x, const Norm& norm);

// residual + W LN(x) + b; an undefined residual counts as zero.
torch::Tensor linear(const torch::Tensor& x, const Norm& norm, const Affine& map,
                     const torch::Tensor& residual = {});

// An op's result, and its input x passed on: what else uses x takes it from here, and the backward
// pass then adds the gradients of all uses in the sweep that computes the op's own.
struct WithInput {
  torch::Tensor y, x;
};
WithInput linear_with_input(const torch::Tensor& x, const Norm& norm, const Affine& map);

// residual + W_proj GELU(W_fc LN(x) + b_fc) + b_proj, with the exact (erf) GELU.
torch::Tensor mlp(const torch::Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
                  const torch::Tensor& residual = {});

// Causal softmax attention of h heads from qkv [B, T, 3·D] → [B, T, D]; `dropout` is the
// probability with which an attention weight is dropped.
torch::Tensor causal_attention(const torch::Tensor& qkv, int64_t heads, double dropout = 0);

}  // namespace edelta::ops
