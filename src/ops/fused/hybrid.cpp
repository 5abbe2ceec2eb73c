#include "kernels/hybrid.h"
#include "ops/fused/fused.h"
#include "ops/fused/gated_operator.h"

namespace edelta::ops::fused {

Tensor hybrid_matrix(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                     const Tensor& gamma) {
  return GatedOperator<kernels::hybrid_forward, kernels::hybrid_backward>::matrix(u, v, beta, k,
                                                                                  gamma);
}

}  // namespace edelta::ops::fused
