#include "edelta/ops/householder.h"

#include "edelta/ops/dispatch.h"
#include "ops/fused.h"

namespace edelta::ops {

using torch::Tensor;

namespace {

// One operator for each sequence or for each token, without broadcasting over the batch.
bool acts_on_tokens(const Tensor& k, const Tensor& beta, const Tensor& x) {
  return x.dim() == 3 && k.dim() == 3 && k.size(0) == x.size(0) &&
         (k.size(1) == 1 || k.size(1) == x.size(1)) && beta.numel() == k.size(0) * k.size(1);
}

}  // namespace

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

Tensor delta(const Tensor& k_in, const Tensor& beta, const Tensor& x) {
  const Tensor k = unit_direction(k_in);
  if (use_fused({k, beta, x}) && acts_on_tokens(k, beta, x)) return fused::delta(k, beta, x);
  return x - beta * (k * x).sum(-1, /*keepdim=*/true) * k;
}

}  // namespace edelta::ops
