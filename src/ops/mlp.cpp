#include "edelta/ops/mlp.h"

#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/shapes.h"

namespace edelta::ops {

using torch::Tensor;

Tensor mlp(const Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
           const Tensor& residual, const Dropout& dropout) {
  shapes::mlp(x, norm, fc, proj, residual);
  if (!norm.rms && use_fused({x, norm.weight, norm.bias, fc.weight, fc.bias, proj.weight, proj.bias,
                              residual})) {
    return fused::mlp(x, norm, fc, proj, residual, dropout);
  }
  return linear(torch::gelu(linear(x, norm, fc)), {}, proj, residual, dropout);
}

}  // namespace edelta::ops
