#include "kernels/geodesic.h"
#include "ops/fused/fused.h"
#include "ops/fused/gated_operator.h"

namespace edelta::ops::fused {

Tensor geodesic_matrix(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                       const Tensor& gamma) {
  return GatedOperator<kernels::geodesic_forward, kernels::geodesic_backward>::matrix(u, v, beta, k,
                                                                                      gamma);
}

}  // namespace edelta::ops::fused
