#include "edelta/ops/householder.h"

namespace edelta::ops {

using torch::Tensor;

Tensor unit_direction(const Tensor& k_in) {
  const Tensor k = k_in.to(torch::kFloat64);
  // The direction does not depend on the scale, so the scale may be a constant to autograd; it
  // keeps the squares from overflowing or vanishing.
  const Tensor largest = k.detach().abs().amax(-1, /*keepdim=*/true);
  const Tensor nonzero = largest > 0;
  const Tensor scaled = k / torch::where(nonzero, largest, torch::ones_like(largest));
  const Tensor length2 = scaled.square().sum(-1, /*keepdim=*/true);
  const Tensor length = torch::where(nonzero, length2, torch::ones_like(length2)).sqrt();
  return (scaled / length).to(k_in.scalar_type());
}

Tensor householder_matrix(const Tensor& k_in) {
  const Tensor k = unit_direction(k_in.to(torch::kFloat64));
  const Tensor identity = torch::eye(k.size(-1), k.options());
  return (identity - 2 * k.unsqueeze(-1) * k.unsqueeze(-2)).to(k_in.scalar_type());
}

Tensor householder_reflect(const Tensor& k_in, const Tensor& x) {
  const Tensor k = unit_direction(k_in).unsqueeze(-1);
  return x - 2 * k * (k * x).sum(-2, /*keepdim=*/true);
}

}  // namespace edelta::ops
