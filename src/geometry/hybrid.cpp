#include "edelta/geometry/hybrid.h"

#include "edelta/ops/cayley.h"
#include "edelta/ops/geodesic.h"
#include "edelta/ops/householder.h"
#include "edelta/ops/hybrid.h"
#include "edelta/ops/streams.h"
#include "edelta/ops/unitary.h"

namespace edelta::geometry {

using torch::Tensor;

Tensor StreamOperator::operator()(const Tensor& x) const {
  if (value.is_same(gradient)) return ops::stream_mix(value, x);
  return ops::stream_mix(value, gradient, x);
}

namespace {

Tensor rotation_matrix(const OperatorParameters& p, ScalarField field) {
  return field == ScalarField::complex ? ops::unitary_rotation_matrix(p.u, p.v, p.beta)
                                       : ops::cayley_matrix(p.u, p.v, p.beta);
}

Tensor reflection_matrix(const OperatorParameters& p, ScalarField field) {
  return field == ScalarField::complex ? ops::unitary_reflection_matrix(p.k)
                                       : ops::householder_matrix(p.k);
}

Tensor geodesic_matrix(const OperatorParameters& p, ScalarField field) {
  return field == ScalarField::complex ? ops::unitary_matrix(p.u, p.v, p.beta, p.k, p.gamma)
                                       : ops::geodesic_matrix(p.u, p.v, p.beta, p.k, p.gamma);
}

Tensor rotated(const OperatorParameters& p, const Tensor& x, ScalarField field) {
  return field == ScalarField::complex ? ops::unitary_rotate(p.u, p.v, p.beta, x)
                                       : ops::cayley_rotate(p.u, p.v, p.beta, x);
}

}  // namespace

StreamOperator hybrid_operator(const OperatorParameters& p, Branch branch, Blend blend,
                               ScalarField field) {
  const auto same = [](const Tensor& g) { return StreamOperator{g, g}; };
  if (branch == Branch::cayley) return same(rotation_matrix(p, field));
  if (branch == Branch::householder) return same(reflection_matrix(p, field));
  if (blend == Blend::geodesic || field == ScalarField::complex) {
    return same(geodesic_matrix(p, field));
  }
  const Tensor linear = ops::hybrid_matrix(p.u, p.v, p.beta, p.k, p.gamma);
  if (blend == Blend::linear) return same(linear);
  // At γ ∈ {0, 1} the blend is one of the two exactly.
  const torch::NoGradGuard no_grad;
  const Tensor hard = (p.gamma > 0.5).to(p.gamma.scalar_type());
  return {ops::hybrid_matrix(p.u, p.v, p.beta, p.k, hard), linear};
}

Tensor hybrid_apply(const OperatorParameters& p, const Tensor& x, Branch branch, Blend blend,
                    ScalarField field) {
  const bool complex = field == ScalarField::complex;
  if (branch == Branch::cayley) return rotated(p, x, field);
  if (branch == Branch::householder) {
    return complex ? ops::unitary_turn(p.k, torch::zeros({1}, p.k.options()), x)
                   : ops::householder_reflect(p.k, x);
  }
  if (complex) return ops::unitary_turn(p.k, p.gamma, rotated(p, x, field));
  if (blend == Blend::geodesic) return ops::geodesic_turn(p.u, p.k, p.gamma, rotated(p, x, field));
  const Tensor gamma = p.gamma.unsqueeze(-1);
  return gamma * rotated(p, x, field) + (1 - gamma) * ops::householder_reflect(p.k, x);
}

}  // namespace edelta::geometry
