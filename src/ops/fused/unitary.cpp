#include "kernels/unitary.h"
#include "ops/fused/fused.h"
#include "ops/fused/gated_operator.h"

namespace edelta::ops::fused {

Tensor unitary_matrix(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                      const Tensor& gamma) {
  return GatedOperator<kernels::unitary_forward, kernels::unitary_backward>::matrix(u, v, beta, k,
                                                                                    gamma);
}

}  // namespace edelta::ops::fused
