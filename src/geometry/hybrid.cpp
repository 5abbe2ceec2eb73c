#include "edelta/geometry/hybrid.h"

#include "edelta/ops/cayley.h"
#include "edelta/ops/householder.h"
#include "edelta/ops/streams.h"

namespace edelta::geometry {

using torch::Tensor;

Tensor StreamOperator::operator()(const Tensor& x) const {
  if (value.is_same(gradient)) return ops::stream_mix(value, x);
  return ops::stream_mix(value, gradient, x);
}

StreamOperator hybrid_operator(const OperatorParameters& p, Branch branch, Blend blend) {
  Tensor rotation, reflection;
  if (has_rotation(branch)) rotation = ops::cayley_matrix(p.u, p.v, p.beta);
  if (has_reflection(branch)) reflection = ops::householder_matrix(p.k);
  if (branch == Branch::cayley) return {rotation, rotation};
  if (branch == Branch::householder) return {reflection, reflection};
  const Tensor gamma = p.gamma.unsqueeze(-1);
  const Tensor linear = gamma * rotation + (1 - gamma) * reflection;
  if (blend == Blend::linear) return {linear, linear};
  return {torch::where(gamma > 0.5, rotation, reflection).detach(), linear};
}

Tensor hybrid_apply(const OperatorParameters& p, const Tensor& x) {
  const Tensor gamma = p.gamma.unsqueeze(-1);
  return gamma * ops::cayley_rotate(p.u, p.v, p.beta, x) +
         (1 - gamma) * ops::householder_reflect(p.k, x);
}

}  // namespace edelta::geometry
