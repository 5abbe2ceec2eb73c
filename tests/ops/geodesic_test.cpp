#include "edelta/ops/geodesic.h"

#include <gtest/gtest.h>

#include <numbers>

#include "edelta/ops/cayley.h"
#include "gated_operator_samples.h"
#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::ops {
namespace {

using namespace test;

Tensor outer_product(const Tensor& a, const Tensor& b) { return a.unsqueeze(-1) * b.unsqueeze(-2); }
Tensor unit(const Tensor& a) { return a / a.norm(2, -1, true); }

// R_φ for ordinary k and u, as it is written down.
Tensor defined_turn(const GatedParameters& p) {
  const Tensor k = unit(p.k);
  const Tensor a = unit(p.u - (k * p.u).sum(-1, true) * k);
  const Tensor phi = (std::numbers::pi * (1 - p.gamma)).unsqueeze(-1);
  return torch::eye(k.size(-1), k.options()) +
         (phi.cos() - 1) * (outer_product(k, k) + outer_product(a, a)) +
         phi.sin() * (outer_product(a, k) - outer_product(k, a));
}

// (I + M)⁻¹ (I − M) by a linear solve.
Tensor solved(const GatedParameters& p) {
  const Tensor m = p.beta.unsqueeze(-1) / 2 * (outer_product(p.u, p.v) - outer_product(p.v, p.u));
  return torch::linalg_solve(identity_like(m) + m, identity_like(m) - m);
}

Tensor matrix(const GatedParameters& p) { return geodesic_matrix(p.u, p.v, p.beta, p.k, p.gamma); }

TEST(Geodesic, MatchesItsDefinition) {
  torch::manual_seed(1);
  for (const int64_t n : {2, 3, 4, 9, 32}) {
    const GatedParameters p = ordinary_operators({5}, n);
    EXPECT_LT(difference(matrix(p), defined_turn(p).matmul(solved(p))), 1e-12) << n;
    const Tensor x = normal({5, n, 2});
    EXPECT_LT(difference(geodesic_turn(p.u, p.k, p.gamma, x), defined_turn(p).matmul(x)), 1e-12);
  }
}

TEST(Geodesic, IsTheRotationAtOneAndNegatesItsPlaneAtZero) {
  torch::manual_seed(2);
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    GatedParameters p = ordinary_operators({50}, 4).to(type);
    p.gamma.fill_(1);
    EXPECT_TRUE(torch::equal(matrix(p), cayley_matrix(p.u, p.v, p.beta)));
    p.gamma.fill_(0);
    const Tensor k = unit(p.k), a = unit(p.u - (k * p.u).sum(-1, true) * k);
    for (const Tensor& x : {k, a}) {
      const Tensor turned = geodesic_turn(p.u, p.k, p.gamma, x.unsqueeze(-1)).squeeze(-1);
      EXPECT_LT(difference(turned, -x), type == torch::kFloat64 ? 1e-14 : 1e-5);
    }
  }
}

TEST(Geodesic, IsARotationWithFiniteGradientsEverywhere) {
  for (const int64_t n : {2, 3, 4, 8, 33}) {
    torch::manual_seed(n);
    expect_orthogonal_with_finite_gradients(geodesic_matrix, extreme_operators(n));
  }
}

TEST(Geodesic, WithoutADirectionIsTheRotationAndHasNoGradientForTheGate) {
  torch::manual_seed(3);
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    GatedParameters p = ordinary_operators({6}, 4).to(type);
    p.k.fill_(0);
    for (Tensor* part : {&p.k, &p.gamma}) part->requires_grad_();
    const Tensor g = matrix(p);
    EXPECT_TRUE(torch::equal(g, cayley_matrix(p.u, p.v, p.beta)));
    for (const Tensor& gradient : torch::autograd::grad({(g * g.detach()).sum()}, {p.k, p.gamma})) {
      EXPECT_EQ(largest(gradient), 0);
    }
  }
}

TEST(Geodesic, TurnsABasisDirectionWhereUIsParallelToK) {
  const auto row = [](std::vector<double> x) { return torch::tensor(x, torch::kFloat64); };
  const Tensor k = row({3, 0.5, 4}), gamma = row({0.5}), x = torch::eye(3, torch::kFloat64);
  // e₁ has the smallest part along k.
  const Tensor expected = geodesic_turn(row({0, 1, 0}), k, gamma, x);
  for (const Tensor& u : {row({0, 0, 0}), k, -7 * k, 1e-18 * k}) {
    EXPECT_LT(difference(geodesic_turn(u, k, gamma, x), expected), 1e-15);
  }
}

TEST(Geodesic, Gradients) {
  torch::manual_seed(4);
  for (const int64_t n : {3, 4, 9}) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{3}, {2, 1}, {2, 3}}) {
      expect_gradient([](const auto& i) { return geodesic_matrix(i[0], i[1], i[2], i[3], i[4]); },
                      ordinary_operators(shape, n).list());
    }
  }
  // Two streams have one plane, whatever k is.
  const GatedParameters two = ordinary_operators({3}, 2);
  expect_gradient([&](const auto& i) { return geodesic_matrix(i[0], i[1], i[2], two.k, i[3]); },
                  {two.u, two.v, two.beta, two.gamma});
  const GatedParameters p = ordinary_operators({3}, 5);
  expect_gradient([](const auto& i) { return geodesic_turn(i[0], i[1], i[2], i[3]); },
                  {p.u, p.k, p.gamma, normal({3, 5, 2})});
}

TEST(Geodesic, GradientsOfTheGateAtItsEndsAndHalfway) {
  torch::manual_seed(5);
  const GatedParameters p = ordinary_operators({1}, 4);
  for (const double gamma : {0.0, 0.5, 1.0}) {
    // The formula goes on smoothly beyond γ ∈ [0, 1].
    expect_gradient([&](const auto& i) { return geodesic_matrix(p.u, p.v, p.beta, p.k, i[0]); },
                    {torch::full({1, 1}, gamma, torch::kFloat64)});
  }
}

}  // namespace
}  // namespace edelta::ops
