#include "edelta/ops/cayley.h"

#include <gtest/gtest.h>

#include <cmath>

#include "edelta/base/safetensors.h"
#include "golden.h"
#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::ops {
namespace {

using namespace test;

struct Parameters {
  Tensor u, v, beta;
};

Tensor outer_product(const Tensor& a, const Tensor& b) { return a.unsqueeze(-1) * b.unsqueeze(-2); }

// The definition, (I + M)⁻¹ (I − M), by a linear solve.
Tensor solved(const Parameters& p) {
  const Tensor m = p.beta.unsqueeze(-1) / 2 * (outer_product(p.u, p.v) - outer_product(p.v, p.u));
  const Tensor identity = identity_like(m);
  return torch::linalg_solve(identity + m, identity - m);
}

Parameters ordinary(int64_t batch, int64_t n) {
  return {normal({batch, n}), normal({batch, n}), 0.1 + torch::rand({batch, 1}, torch::kFloat64)};
}

// Every combination of |u|, |v| and β over their whole ranges, with v in general position, parallel
// to u, within rounding and within 1e-6 of it, and either vector zero.
Parameters extremes(int64_t n) {
  std::vector<Tensor> u, v, beta;
  const Tensor direction = normal({n});
  const Tensor unit = direction / direction.norm();
  const std::vector<Tensor> partners = {normal({n}),
                                        unit,
                                        -unit,
                                        unit * (1 + 1e-15 * normal({n})),
                                        unit + 1e-6 * normal({n}),
                                        unit + 1e-12 * normal({n}),
                                        torch::zeros({n}, torch::kFloat64)};
  const auto add = [&](const Tensor& first, const Tensor& second, double b) {
    u.push_back(first);
    v.push_back(second);
    beta.push_back(torch::full({1}, b, torch::kFloat64));
  };
  for (const double b : {1e-12, 1e-6, 1e-2, 1.0, 1e2, 1e6, 1e12}) {
    for (const double length_u : {1e-18, 1e-9, 1.0, 1e9, 1e18}) {
      for (const double length_v : {1e-18, 1e-6, 1.0, 1e6, 1e18}) {
        for (const Tensor& partner : partners) add(length_u * unit, length_v * partner, b);
      }
      add(torch::zeros_like(unit), length_u * unit, b);
      add(torch::zeros_like(unit), torch::zeros_like(unit), b);
    }
  }
  return {torch::stack(u), torch::stack(v), torch::stack(beta)};
}

class CayleyExtremes : public testing::TestWithParam<int64_t> {};

TEST_P(CayleyExtremes, IsARotationWithFiniteGradients) {
  torch::manual_seed(GetParam());
  const Parameters all = extremes(GetParam());
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    const auto leaf = [&](const Tensor& a) { return a.to(type).detach().clone().requires_grad_(); };
    const Parameters p{leaf(all.u), leaf(all.v), leaf(all.beta)};
    const Tensor q = cayley_matrix(p.u, p.v, p.beta);
    ASSERT_EQ(q.scalar_type(), type);
    ASSERT_TRUE(all_finite(q));
    EXPECT_LT(orthogonality_error(q), type == torch::kFloat64 ? 1e-12 : 2e-6);
    EXPECT_LT(largest(torch::linalg_det(q.detach().to(torch::kFloat64)) - 1),
              type == torch::kFloat64 ? 1e-12 : 1e-5);

    const Tensor x = leaf(normal({all.u.size(0), GetParam(), 2}));
    const Tensor rotated = cayley_rotate(p.u, p.v, p.beta, x);
    ASSERT_EQ(rotated.scalar_type(), type);
    EXPECT_LT(difference(rotated, q.to(torch::kFloat64).matmul(x.to(torch::kFloat64))),
              type == torch::kFloat64 ? 1e-13 : 1e-5);

    const Tensor functional =
        (normal(q.sizes()) * q).sum() + (normal(rotated.sizes()) * rotated).sum();
    for (const Tensor& gradient : torch::autograd::grad({functional}, {p.u, p.v, p.beta, x})) {
      EXPECT_TRUE(all_finite(gradient));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CayleyExtremes, testing::Values(1, 2, 3, 4, 7, 16, 33, 64));

TEST(Cayley, ClosedFormIsTheSolve) {
  torch::manual_seed(1);
  for (int64_t n = 1; n <= 64; ++n) {
    const Parameters p = ordinary(8, n);
    EXPECT_LT(relative_difference(cayley_matrix(p.u, p.v, p.beta), solved(p)), 1e-12) << n;
  }
}

TEST(Cayley, ParallelVectorsAndZeroGiveTheIdentity) {
  torch::manual_seed(2);
  const Tensor u = normal({5, 6});
  const Tensor beta = torch::full({5, 1}, 1e12, torch::kFloat64);
  const Tensor identity = torch::eye(6, torch::kFloat64).expand({5, 6, 6});
  EXPECT_TRUE(torch::equal(cayley_matrix(u, u, beta), identity));
  EXPECT_TRUE(torch::equal(cayley_matrix(u, -0.3 * u, beta), identity));
  EXPECT_TRUE(torch::equal(cayley_matrix(torch::zeros_like(u), u, beta), identity));
  EXPECT_TRUE(torch::equal(cayley_matrix(u, torch::zeros_like(u), beta), identity));
}

TEST(Cayley, NearlyParallelVectorsKeepTheirAngle) {
  // u = e₀ and v = e₀ + δ e₁ span the plane with area δ: the angle is 2 atan(β δ/2), whatever of δ
  // rounding leaves in v.
  for (const double delta : {1e-3, 1e-7, 1e-12}) {
    const Tensor u = torch::tensor({1.0, 0.0, 0.0}, torch::kFloat64);
    const Tensor v = torch::tensor({1.0, delta, 0.0}, torch::kFloat64);
    const Tensor q = cayley_matrix(u, v, torch::full({1}, 2 / delta, torch::kFloat64));
    EXPECT_NEAR(q[0][0].item<double>(), 0, 1e-15);
    EXPECT_NEAR(q[1][0].item<double>(), 1, 1e-15);
  }
}

TEST(Cayley, OrthogonalPartIsOrthogonal) {
  torch::manual_seed(3);
  const Parameters p = extremes(8);
  const Tensor w = part_orthogonal_to(p.u, p.v);
  const Tensor cosine = (p.u * w).sum(-1) / (p.u.norm(2, -1) * w.norm(2, -1)).clamp_min(1e-300);
  EXPECT_LT(largest(cosine), 1e-14);
}

TEST(Cayley, MatrixGradient) {
  torch::manual_seed(4);
  for (const int64_t n : {2, 3, 4, 9}) {
    const Parameters p = ordinary(3, n);
    expect_gradient([](const auto& in) { return cayley_matrix(in[0], in[1], in[2]); },
                    {p.u, p.v, p.beta});
  }
}

TEST(Cayley, RotationGradient) {
  torch::manual_seed(5);
  const Parameters p = ordinary(3, 5);
  expect_gradient([](const auto& in) { return cayley_rotate(in[0], in[1], in[2], in[3]); },
                  {p.u, p.v, p.beta, normal({3, 5, 2})});
}

TEST(Cayley, GradientIsThatOfTheSolveNearParallel) {
  torch::manual_seed(6);
  const Tensor direction = normal({6, 4});
  const auto leaf = [](const Tensor& a) { return a.detach().clone().requires_grad_(); };
  const Parameters p{leaf(direction), leaf(direction + 1e-4 * normal({6, 4})),
                     leaf(torch::ones({6, 1}, torch::kFloat64))};
  const Tensor weight = normal({6, 4, 4});
  const auto gradients = [&](const Tensor& q) {
    return torch::autograd::grad({(weight * q).sum()}, {p.u, p.v, p.beta});
  };
  const auto closed = gradients(cayley_matrix(p.u, p.v, p.beta));
  const auto definition = gradients(solved(p));
  for (size_t i = 0; i < closed.size(); ++i) {
    EXPECT_LT(relative_difference(closed[i], definition[i]), 1e-10) << i;
  }
}

TEST(Cayley, MatchesTheGoldenTraces) {
  const auto path = golden_file("operators.safetensors");
  if (!path) GTEST_SKIP() << "no golden traces";
  const base::TensorFile golden = base::read_safetensors(*path);
  for (const std::string n : {"2", "4", "7", "16"}) {
    const auto at = [&](const char* name) { return golden.tensor("cayley/" + n + "/" + name); };
    EXPECT_LT(difference(cayley_matrix(at("u"), at("v"), at("beta")), at("Q")), 1e-13) << n;
  }
}

}  // namespace
}  // namespace edelta::ops
