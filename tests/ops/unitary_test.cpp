#include "edelta/ops/unitary.h"

#include <gtest/gtest.h>

#include <numbers>

#include "gated_operator_samples.h"
#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::ops {
namespace {

using namespace test;

Tensor complex_of(const Tensor& parts) {
  return torch::view_as_complex(parts.contiguous().unflatten(-1, {parts.size(-1) / 2, 2}));
}
Tensor outer_product(const Tensor& a, const Tensor& b) {
  return a.unsqueeze(-1) * b.conj().unsqueeze(-2);
}
Tensor complex_identity(int64_t n) { return torch::eye(n / 2, torch::kComplexDouble); }

// The complex matrix of which a real one consists; its blocks must be [[a, −b], [b, a]].
Tensor complex_matrix(const Tensor& real) {
  const auto entries = [&](int64_t row, int64_t column) {
    return real.slice(-2, row, c10::nullopt, 2).slice(-1, column, c10::nullopt, 2);
  };
  EXPECT_TRUE(torch::equal(entries(0, 0), entries(1, 1)));
  EXPECT_TRUE(torch::equal(entries(0, 1), -entries(1, 0)));
  return torch::complex(entries(0, 0).contiguous(), entries(1, 0).contiguous());
}

// (I + M)⁻¹ (I − M), M = (β/2)(u v* − v u*), by a linear solve.
Tensor solved(const GatedParameters& p) {
  const Tensor u = complex_of(p.u), v = complex_of(p.v);
  const Tensor m = p.beta.unsqueeze(-1) / 2 * (outer_product(u, v) - outer_product(v, u));
  const Tensor identity = complex_identity(p.u.size(-1));
  return torch::linalg_solve(identity + m, identity - m);
}

Tensor defined_turn(const Tensor& k_in, const Tensor& gamma) {
  const Tensor k = complex_of(k_in / k_in.norm(2, -1, true));
  const Tensor phi = (std::numbers::pi * (1 - gamma)).unsqueeze(-1);
  return complex_identity(k_in.size(-1)) +
         (torch::polar(torch::ones_like(phi), phi) - 1) * outer_product(k, k);
}

double complex_difference(const Tensor& a, const Tensor& b) {
  return (a - b).abs().max().item<double>();
}

Tensor matrix(const GatedParameters& p) { return unitary_matrix(p.u, p.v, p.beta, p.k, p.gamma); }

TEST(Unitary, MatchesItsDefinition) {
  torch::manual_seed(1);
  for (const int64_t n : {2, 4, 6, 8, 32}) {
    const GatedParameters p = ordinary_operators({5}, n);
    const Tensor q = solved(p), turn = defined_turn(p.k, p.gamma);
    EXPECT_LT(complex_difference(complex_matrix(matrix(p)), turn.matmul(q)), 1e-12) << n;
    const Tensor rotation = unitary_rotation_matrix(p.u, p.v, p.beta);
    EXPECT_LT(complex_difference(complex_matrix(rotation), q), 1e-12) << n;
    const Tensor reflection = unitary_reflection_matrix(p.k);
    EXPECT_LT(complex_difference(complex_matrix(reflection),
                                 defined_turn(p.k, torch::zeros_like(p.gamma))),
              1e-14);
    const Tensor x = normal({5, n, 3});
    EXPECT_LT(difference(unitary_rotate(p.u, p.v, p.beta, x), rotation.matmul(x)), 1e-13);
    EXPECT_LT(difference(unitary_turn(p.k, p.gamma, unitary_rotate(p.u, p.v, p.beta, x)),
                         matrix(p).matmul(x)),
              1e-13);
  }
}

TEST(Unitary, IsTheRotationAtOneAndReflectsAtZero) {
  torch::manual_seed(2);
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    GatedParameters p = ordinary_operators({50}, 4).to(type);
    p.gamma.fill_(1);
    EXPECT_TRUE(torch::equal(matrix(p), unitary_rotation_matrix(p.u, p.v, p.beta)));
    p.gamma.fill_(0);
    const Tensor k = p.k / p.k.norm(2, -1, true);
    const Tensor turned = unitary_turn(p.k, p.gamma, k.unsqueeze(-1)).squeeze(-1);
    EXPECT_LT(difference(turned, -k), type == torch::kFloat64 ? 1e-14 : 1e-6);
  }
}

TEST(Unitary, IsOrthogonalWithFiniteGradientsEverywhere) {
  for (const int64_t n : {2, 4, 6, 8, 32}) {
    torch::manual_seed(n);
    expect_orthogonal_with_finite_gradients(unitary_matrix, extreme_operators(n));
  }
}

// u and v parallel over the complex numbers turn the phase of u alone: v = iu, τ = 2h|u|².
TEST(Unitary, TurnsThePhaseWhereVIsATurnedU) {
  const auto row = [](std::vector<double> x) { return torch::tensor(x, torch::kFloat64); };
  const Tensor u = row({3, 0, 0, 4}), v = row({0, 3, -4, 0});
  const Tensor x = (u / 5).unsqueeze(-1);
  for (const double tau : {1e-3, 1.0, 1e6}) {
    const Tensor turned = complex_of(unitary_rotate(u, v, row({tau / 25}), x).squeeze(-1));
    const c10::complex<double> expected =
        c10::complex<double>(1, tau) / c10::complex<double>(1, -tau);
    EXPECT_LT(complex_difference(turned, expected * complex_of(u / 5)), 1e-15) << tau;
  }
}

TEST(Unitary, WithoutADirectionIsTheRotationAndHasNoGradientForTheGate) {
  torch::manual_seed(3);
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    GatedParameters p = ordinary_operators({6}, 4).to(type);
    p.k.fill_(0);
    for (Tensor* part : {&p.k, &p.gamma}) part->requires_grad_();
    const Tensor g = matrix(p);
    EXPECT_TRUE(torch::equal(g, unitary_rotation_matrix(p.u, p.v, p.beta)));
    for (const Tensor& gradient : torch::autograd::grad({(g * g.detach()).sum()}, {p.k, p.gamma})) {
      EXPECT_EQ(largest(gradient), 0);
    }
  }
}

TEST(Unitary, Gradients) {
  torch::manual_seed(4);
  for (const int64_t n : {4, 6, 8}) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{3}, {2, 1}, {2, 3}}) {
      expect_gradient([](const auto& i) { return unitary_matrix(i[0], i[1], i[2], i[3], i[4]); },
                      ordinary_operators(shape, n).list());
    }
  }
  // A single complex number has no direction for k.
  const GatedParameters one = ordinary_operators({3}, 2);
  expect_gradient([&](const auto& i) { return unitary_matrix(i[0], i[1], i[2], one.k, i[3]); },
                  {one.u, one.v, one.beta, one.gamma});
  const GatedParameters p = ordinary_operators({3}, 6);
  const Tensor x = normal({3, 6, 2});
  expect_gradient([](const auto& i) { return unitary_rotate(i[0], i[1], i[2], i[3]); },
                  {p.u, p.v, p.beta, x});
  expect_gradient([](const auto& i) { return unitary_turn(i[0], i[1], i[2]); }, {p.k, p.gamma, x});
  expect_gradient([](const auto& i) { return unitary_rotation_matrix(i[0], i[1], i[2]); },
                  {p.u, p.v, p.beta});
  expect_gradient([](const auto& i) { return unitary_reflection_matrix(i[0]); }, {p.k});
}

}  // namespace
}  // namespace edelta::ops
