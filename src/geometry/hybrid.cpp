#include "edelta/geometry/hybrid.h"

#include "edelta/ops/cayley.h"
#include "edelta/ops/householder.h"
#include "edelta/ops/hybrid.h"
#include "edelta/ops/streams.h"

namespace edelta::geometry {

using torch::Tensor;

Tensor StreamOperator::operator()(const Tensor& x) const {
  if (value.is_same(gradient)) return ops::stream_mix(value, x);
  return ops::stream_mix(value, gradient, x);
}

StreamOperator hybrid_operator(const OperatorParameters& p, Branch branch, Blend blend) {
  if (branch != Branch::hybrid) {
    const Tensor one = branch == Branch::cayley ? ops::cayley_matrix(p.u, p.v, p.beta)
                                                : ops::householder_matrix(p.k);
    return {one, one};
  }
  const Tensor linear = ops::hybrid_matrix(p.u, p.v, p.beta, p.k, p.gamma);
  if (blend == Blend::linear) return {linear, linear};
  // At γ ∈ {0, 1} the blend is one of the two exactly.
  const torch::NoGradGuard no_grad;
  const Tensor hard = (p.gamma > 0.5).to(p.gamma.scalar_type());
  return {ops::hybrid_matrix(p.u, p.v, p.beta, p.k, hard), linear};
}

Tensor hybrid_apply(const OperatorParameters& p, const Tensor& x) {
  const Tensor gamma = p.gamma.unsqueeze(-1);
  return gamma * ops::cayley_rotate(p.u, p.v, p.beta, x) +
         (1 - gamma) * ops::householder_reflect(p.k, x);
}

}  // namespace edelta::geometry
