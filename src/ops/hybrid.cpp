#include "edelta/ops/hybrid.h"

#include "edelta/ops/cayley.h"
#include "edelta/ops/householder.h"
#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"

namespace edelta::ops {

using torch::Tensor;

namespace {

// The kernel does not broadcast: every operator has parameters of its own.
bool has_all_parameters(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                        const Tensor& gamma) {
  const int64_t operators = u.numel() / u.size(-1);
  return v.sizes() == u.sizes() && k.sizes() == u.sizes() && beta.numel() == operators &&
         gamma.numel() == operators;
}

}  // namespace

Tensor hybrid_matrix(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                     const Tensor& gamma_in) {
  if (use_fused({u, v, beta, k, gamma_in}) && has_all_parameters(u, v, beta, k, gamma_in)) {
    return fused::hybrid_matrix(u, v, beta, k, gamma_in);
  }
  const Tensor gamma = gamma_in.unsqueeze(-1);
  return gamma * cayley_matrix(u, v, beta) + (1 - gamma) * householder_matrix(k);
}

}  // namespace edelta::ops
