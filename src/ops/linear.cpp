#include "edelta/ops/linear.h"

#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/shapes.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

Tensor add_residual(const Tensor& y, const Tensor& residual) {
  return residual.defined() ? residual + y : y;
}

}  // namespace

Tensor normalise(const Tensor& x, const Norm& norm) {
  shapes::require_norm(x, norm);
  if (!norm.weight.defined()) return x;
  if (!norm.rms) return torch::layer_norm(x, {x.size(-1)}, norm.weight, norm.bias, norm.eps());
  const Tensor scaled =
      x * torch::rsqrt(x.square().mean(-1, /*keepdim=*/true) + norm.eps()) * norm.weight;
  return norm.bias.defined() ? scaled + norm.bias : scaled;
}

Tensor linear(const Tensor& x, const Norm& norm, const Affine& map, const Tensor& residual,
              const Dropout& dropout) {
  shapes::linear(x, norm, map, residual);
  if (use_fused({x, norm.weight, norm.bias, map.weight, map.bias, residual})) {
    return fused::linear(x, norm, map, residual, dropout);
  }
  const Tensor y = torch::linear(normalise(x, norm), map.weight, map.bias);
  return add_residual(drop(y, dropout), residual);
}

WithInput linear_with_input(const Tensor& x, const Norm& norm, const Affine& map) {
  shapes::linear(x, norm, map);
  if (use_fused({x, norm.weight, norm.bias, map.weight, map.bias})) {
    return fused::linear_with_input(x, norm, map);
  }
  return {linear(x, norm, map), x};
}

}  // namespace edelta::ops
