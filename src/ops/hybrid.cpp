#include "edelta/ops/hybrid.h"

#include "edelta/ops/cayley.h"
#include "edelta/ops/householder.h"
#include "ops/fused/fused.h"
#include "ops/gated_operator.h"

namespace edelta::ops {

using torch::Tensor;

Tensor hybrid_matrix(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                     const Tensor& gamma_in) {
  if (use_fused_operator(u, v, beta, k, gamma_in)) {
    return fused::hybrid_matrix(u, v, beta, k, gamma_in);
  }
  const Tensor gamma = gamma_in.unsqueeze(-1);
  return gamma * cayley_matrix(u, v, beta) + (1 - gamma) * householder_matrix(k);
}

}  // namespace edelta::ops
