#include "edelta/ops/delta.h"

#include "edelta/ops/householder.h"
#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

// One operator for each sequence or for each token, without broadcasting over the batch.
bool acts_on_tokens(const Tensor& k, const Tensor& beta, const Tensor& x) {
  return x.dim() == 3 && k.dim() == 3 && k.size(0) == x.size(0) && k.size(2) == x.size(2) &&
         (k.size(1) == 1 || k.size(1) == x.size(1)) && beta.numel() == k.size(0) * k.size(1);
}

}  // namespace

Tensor delta(const Tensor& k_in, const Tensor& beta, const Tensor& x) {
  const Tensor k = unit_direction(k_in);
  if (use_fused({k, beta, x}) && acts_on_tokens(k, beta, x)) return fused::delta(k, beta, x);
  return x - beta * (k * x).sum(-1, /*keepdim=*/true) * k;
}

}  // namespace edelta::ops
