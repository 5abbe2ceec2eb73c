#include "edelta/ops/geodesic.h"

#include "edelta/ops/cayley.h"
#include "edelta/ops/householder.h"
#include "ops/fused/fused.h"
#include "ops/gated_operator.h"
#include "ops/phase.h"
#include "ops/rounding.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

// x − k (k·x), for |k| = 1. Twice, because one subtraction leaves an error along k of the size of
// x's rounding.
Tensor without_direction(const Tensor& k, const Tensor& x) {
  Tensor rest = x;
  for (int pass = 0; pass < 2; ++pass) rest = rest - (k * rest).sum(-1, /*keepdim=*/true) * k;
  return rest;
}

// The basis vector with the smallest part along k.
Tensor farthest_basis_vector(const Tensor& k) {
  return torch::zeros_like(k).scatter(-1, k.abs().argmin(-1, /*keepdim=*/true), 1.0);
}

// a for a unit vector k, in float64: 0 where k is.
Tensor partner(const Tensor& k, const Tensor& u) {
  const Tensor part = without_direction(k, u);
  Tensor has_part, substitute;
  {
    const torch::NoGradGuard no_grad;
    has_part = part.norm(2, -1, /*keepdim=*/true) >
               rounding_tolerance(u.size(-1)) * u.norm(2, -1, /*keepdim=*/true);
    substitute = without_direction(k, farthest_basis_vector(k));
  }
  const Tensor nonzero = k.detach().abs().amax(-1, /*keepdim=*/true) > 0;
  return torch::where(nonzero, unit_direction(torch::where(has_part, part, substitute)),
                      torch::zeros_like(k));
}

}  // namespace

Tensor geodesic_turn(const Tensor& u_in, const Tensor& k_in, const Tensor& gamma,
                     const Tensor& x_in) {
  const Tensor unit = unit_direction(k_in.to(torch::kFloat64));
  const Tensor a = partner(unit, u_in.to(torch::kFloat64)).unsqueeze(-1);
  const Tensor k = unit.unsqueeze(-1);
  const Phase phase(gamma.unsqueeze(-1));
  const Tensor x = x_in.to(torch::kFloat64);
  const Tensor kx = (k * x).sum(-2, /*keepdim=*/true), ax = (a * x).sum(-2, /*keepdim=*/true);
  const Tensor turned =
      x + phase.cosine_less_one * (k * kx + a * ax) + phase.sine * (a * kx - k * ax);
  return turned.to(x_in.scalar_type());
}

Tensor geodesic_matrix(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                       const Tensor& gamma) {
  if (use_fused_operator(u, v, beta, k, gamma)) {
    return fused::geodesic_matrix(u, v, beta, k, gamma);
  }
  const Tensor q = cayley_matrix(u.to(torch::kFloat64), v, beta);
  return geodesic_turn(u, k, gamma, q).to(u.scalar_type());
}

}  // namespace edelta::ops
