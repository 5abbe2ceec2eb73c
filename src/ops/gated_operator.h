// What the fused operators on streams need of their arguments.
#pragma once

#include "edelta/ops/implementation.h"
#include "edelta/torch.h"

namespace edelta::ops {

// The kernels do not broadcast: every operator has parameters of its own.
inline bool use_fused_operator(const torch::Tensor& u, const torch::Tensor& v,
                               const torch::Tensor& beta, const torch::Tensor& k,
                               const torch::Tensor& gamma) {
  const int64_t operators = u.numel() / u.size(-1);
  return use_fused({u, v, beta, k, gamma}) && v.sizes() == u.sizes() && k.sizes() == u.sizes() &&
         beta.numel() == operators && gamma.numel() == operators;
}

}  // namespace edelta::ops
