#include "edelta/ops/cayley.h"

#include "ops/rounding.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

Tensor scalar_product(const Tensor& a, const Tensor& b) {
  return (a * b).sum(-1, /*keepdim=*/true);
}

// (u·v)/|u|², or 0 where u = 0.
Tensor projection_coefficient(const Tensor& u, const Tensor& v) {
  const Tensor length2 = scalar_product(u, u);
  return torch::where(length2 > 0, scalar_product(u, v) / length2, torch::zeros_like(length2));
}

Tensor outer_product(const Tensor& a, const Tensor& b) { return a.unsqueeze(-1) * b.unsqueeze(-2); }

}  // namespace

Tensor part_orthogonal_to(const Tensor& u_in, const Tensor& v_in) {
  const Tensor u = u_in.to(torch::kFloat64);
  const Tensor v = v_in.to(torch::kFloat64);
  Tensor first, second, below_rounding;
  {
    const torch::NoGradGuard no_grad;
    first = projection_coefficient(u, v);
    const Tensor once = v - first * u;
    // One subtraction leaves an error along u of the size of v's rounding; a second removes it.
    second = projection_coefficient(u, once);
    const Tensor twice = once - second * u;
    const double tolerance = rounding_tolerance(u.size(-1));
    below_rounding =
        torch::where(scalar_product(twice, twice).sqrt() <= tolerance * scalar_product(v, v).sqrt(),
                     twice, torch::zeros_like(twice));
  }
  return v - first * u - second * u - below_rounding;
}

Tensor cayley_matrix(const Tensor& u_in, const Tensor& v, const Tensor& beta) {
  const Tensor u = u_in.to(torch::kFloat64);
  const Tensor w = part_orthogonal_to(u_in, v);
  const Tensor half_angle_scale = (beta.to(torch::kFloat64) / 2).unsqueeze(-1);
  const Tensor m = half_angle_scale * (outer_product(u, w) - outer_product(w, u));
  const Tensor s = m.square().sum({-2, -1}, /*keepdim=*/true) / 2;
  const Tensor identity = torch::eye(u.size(-1), m.options());
  return (identity - 2 / (1 + s) * (m - m.matmul(m))).to(u_in.scalar_type());
}

Tensor cayley_rotate(const Tensor& u_in, const Tensor& v, const Tensor& beta, const Tensor& x_in) {
  const Tensor w = part_orthogonal_to(u_in, v).unsqueeze(-1);
  const Tensor u = u_in.to(torch::kFloat64).unsqueeze(-1);
  const Tensor x = x_in.to(torch::kFloat64);
  const Tensor half_beta = (beta.to(torch::kFloat64) / 2).unsqueeze(-1);
  const auto along = [](const Tensor& a, const Tensor& b) {
    return (a * b).sum(-2, /*keepdim=*/true);
  };
  const auto m_times = [&](const Tensor& y) {
    return half_beta * (u * along(w, y) - w * along(u, y));
  };
  const Tensor s = half_beta.square() * (along(u, u) * along(w, w) - along(u, w).square());
  const Tensor mx = m_times(x);
  return (x - 2 / (1 + s) * (mx - m_times(mx))).to(x_in.scalar_type());
}

}  // namespace edelta::ops
