#include "edelta/ops/unitary.h"

#include "edelta/ops/cayley.h"
#include "edelta/ops/householder.h"
#include "ops/fused/fused.h"
#include "ops/gated_operator.h"
#include "ops/phase.h"
#include "ops/rounding.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

// Numbers 2j and 2j + 1 along `dim` as the parts of complex number j, in complex128.
Tensor joined(const Tensor& parts_in, int64_t dim) {
  TORCH_CHECK(parts_in.size(dim) % 2 == 0, "pairs of numbers are complex: ", parts_in.size(dim),
              " must be even");
  const Tensor parts = parts_in.to(torch::kFloat64);
  return torch::complex(parts.slice(dim, 0, c10::nullopt, 2), parts.slice(dim, 1, c10::nullopt, 2));
}

// The other way, for x [..., m, d].
Tensor split_rows(const Tensor& x) {
  return torch::stack({torch::real(x), torch::imag(x)}, -2).flatten(-3, -2);
}

// A complex matrix [..., m, m] as the real one of blocks [[a, −b], [b, a]].
Tensor real_matrix(const Tensor& complex) {
  const Tensor a = torch::real(complex), b = torch::imag(complex);
  const Tensor above = torch::stack({a, -b}, -1), below = torch::stack({b, a}, -1);
  return torch::stack({above, below}, -3).flatten(-2).flatten(-3, -2);
}

Tensor squared_length(const Tensor& x) {
  return (torch::real(x).square() + torch::imag(x).square()).sum(-1, /*keepdim=*/true);
}

// u*x along the last dimension.
Tensor inner_product(const Tensor& u, const Tensor& x) {
  return (u.conj() * x).sum(-1, /*keepdim=*/true);
}

// v = c u + w with w orthogonal to u, for complex u and v; c = 0 where u = 0.
struct Decomposition {
  Tensor c, w;
};

Decomposition decompose(const Tensor& u, const Tensor& v) {
  const Tensor length2 = squared_length(u);
  const Tensor nonzero = length2 > 0;
  const Tensor divisor = torch::where(nonzero, length2, torch::ones_like(length2));
  const auto coefficient = [&](const Tensor& x) { return inner_product(u, x) / divisor; };
  // As in part_orthogonal_to: twice, and what is below rounding counts as 0.
  const Tensor first = coefficient(v), once = v - first * u;
  const Tensor second = coefficient(once), twice = once - second * u;
  Tensor below_rounding;
  {
    const torch::NoGradGuard no_grad;
    const double tolerance = rounding_tolerance(2 * u.size(-1));
    const Tensor is_rounding = squared_length(twice).sqrt() <= tolerance * squared_length(v).sqrt();
    below_rounding = torch::where(is_rounding, twice, torch::zeros_like(twice));
  }
  return {first + second, twice - below_rounding};
}

// Q·x for complex x [..., m, d]:
//   Q = I + r [(2ih Im c − h²|w|²) u u* − h u w* + h w u* − h²|u|² w w*],
//   r = 2/(1 + h²|u|²|w|² − 2ih|u|² Im c),  h = β/2
Tensor rotate(const Tensor& u_in, const Tensor& v, const Tensor& beta, const Tensor& x) {
  const Tensor flat_u = joined(u_in, -1);
  // A real multiple of u in v changes nothing; without it Im c does not cancel.
  const auto [c, flat_w] = decompose(flat_u, joined(part_orthogonal_to(u_in, v), -1));
  const Tensor uu = squared_length(flat_u).unsqueeze(-1), ww = squared_length(flat_w).unsqueeze(-1);
  const Tensor u = flat_u.unsqueeze(-1), w = flat_w.unsqueeze(-1);
  const Tensor h = (beta.to(torch::kFloat64) / 2).unsqueeze(-1);
  const Tensor y = torch::imag(c).unsqueeze(-1);
  // r = 2/(p − iq), written so that no square overflows.
  const Tensor p = 1 + h.square() * uu * ww, q = 2 * h * uu * y;
  const Tensor real_r = 2 / (p + q * (q / p));
  const Tensor r = torch::complex(real_r, real_r * (q / p));
  const auto along = [&](const Tensor& a) { return (a.conj() * x).sum(-2, /*keepdim=*/true); };
  const Tensor ux = along(u), wx = along(w);
  return x + r * (u * (torch::complex(-h.square() * ww, 2 * h * y) * ux - h * wx) +
                  w * (h * ux - h.square() * uu * wx));
}

// P·x for complex x [..., m, d] and e^{iφ} − 1 [..., 1, 1].
Tensor turn(const Tensor& k_in, const Tensor& less_one, const Tensor& x) {
  const Tensor k = joined(unit_direction(k_in.to(torch::kFloat64)), -1).unsqueeze(-1);
  return x + less_one * k * (k.conj() * x).sum(-2, /*keepdim=*/true);
}

Tensor phase_less_one(const Tensor& gamma) {
  const Phase phase(gamma.unsqueeze(-1));
  return torch::complex(phase.cosine_less_one, phase.sine);
}

// On m = n/2 complex streams, for vectors like u [..., n].
Tensor complex_identity(const Tensor& u) {
  return torch::eye(u.size(-1) / 2, u.options().dtype(torch::kComplexDouble).requires_grad(false));
}

}  // namespace

Tensor unitary_rotate(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& x) {
  return split_rows(rotate(u, v, beta, joined(x, -2))).to(x.scalar_type());
}

Tensor unitary_turn(const Tensor& k, const Tensor& gamma, const Tensor& x) {
  return split_rows(turn(k, phase_less_one(gamma), joined(x, -2))).to(x.scalar_type());
}

Tensor unitary_rotation_matrix(const Tensor& u, const Tensor& v, const Tensor& beta) {
  return real_matrix(rotate(u, v, beta, complex_identity(u))).to(u.scalar_type());
}

Tensor unitary_reflection_matrix(const Tensor& k) {
  const Tensor identity = complex_identity(k);
  const Tensor less_one = torch::full({1, 1}, -2.0, identity.options());
  return real_matrix(turn(k, less_one, identity)).to(k.scalar_type());
}

Tensor unitary_matrix(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                      const Tensor& gamma) {
  if (u.size(-1) % 2 == 0 && use_fused_operator(u, v, beta, k, gamma)) {
    return fused::unitary_matrix(u, v, beta, k, gamma);
  }
  const Tensor q = rotate(u, v, beta, complex_identity(u));
  return real_matrix(turn(k, phase_less_one(gamma), q)).to(u.scalar_type());
}

}  // namespace edelta::ops
