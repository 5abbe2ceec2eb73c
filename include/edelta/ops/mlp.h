// The MLP sub-layer (specification 2).
#pragma once

#include "edelta/ops/linear.h"

namespace edelta::ops {

// residual + dropout(W_proj GELU(W_fc LN(x) + b_fc) + b_proj), with the exact (erf) GELU; an
// undefined residual counts as zero.
torch::Tensor mlp(const torch::Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
                  const torch::Tensor& residual = {}, const Dropout& dropout = {});

}  // namespace edelta::ops
