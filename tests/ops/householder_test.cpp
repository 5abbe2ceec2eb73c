#include "edelta/ops/householder.h"

#include "edelta/ops/delta.h"

#include <gtest/gtest.h>

#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::ops {
namespace {

using namespace test;

// I − β k kᵀ/|k|² for ordinary k.
Tensor defined(const Tensor& k, const Tensor& beta) {
  const Tensor unit = k / k.norm(2, -1, true);
  return torch::eye(k.size(-1), k.options()) -
         beta.unsqueeze(-1) * unit.unsqueeze(-1) * unit.unsqueeze(-2);
}

TEST(Householder, MatchesItsDefinition) {
  torch::manual_seed(1);
  for (const int64_t n : {1, 2, 4, 31}) {
    const Tensor k = normal({5, n});
    const Tensor beta = 3 * torch::rand({5, 1}, torch::kFloat64);
    const Tensor x = normal({5, n, 2});
    const Tensor h = defined(k, torch::full({5, 1}, 2.0, torch::kFloat64));
    EXPECT_LT(difference(householder_matrix(k), h), 1e-14);
    EXPECT_LT(difference(householder_reflect(k, x), h.matmul(x)), 1e-13);
    const Tensor row = x.select(-1, 0);
    EXPECT_LT(
        difference(delta(k, beta, row), defined(k, beta).matmul(row.unsqueeze(-1)).squeeze(-1)),
        1e-13);
  }
}

TEST(Householder, DirectionHasUnitLengthAtEveryScale) {
  torch::manual_seed(2);
  const auto check = [](const Tensor& k, double tolerance) {
    const Tensor unit = unit_direction(k).to(torch::kFloat64);
    EXPECT_LT(largest(unit.norm(2, -1) - 1), tolerance) << k;
    EXPECT_LT(orthogonality_error(householder_matrix(k)), 4 * tolerance) << k;
  };
  for (const double scale : {1e-310, 1e-300, 1e-150, 1e-18, 1e-12, 1.0, 1e18, 1e300}) {
    check(scale * normal({3, 5}), 1e-14);
  }
  for (const double scale : {1e-40, 1e-38, 1e-18, 1e-13, 1.0, 1e18, 1e37}) {
    check((scale * normal({3, 5})).to(torch::kFloat32), 3e-7);
  }
}

TEST(Householder, ZeroGivesTheIdentityWithoutGradient) {
  torch::manual_seed(3);
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    const Tensor k = torch::zeros({2, 4}, type).requires_grad_();
    const Tensor x = normal({2, 4, 3}).to(type);
    const Tensor h = householder_matrix(k);
    EXPECT_TRUE(torch::equal(h, torch::eye(4, type).expand({2, 4, 4})));
    const Tensor reflected = householder_reflect(k, x);
    EXPECT_TRUE(torch::equal(reflected, x));
    const Tensor functional = (normal(h.sizes()) * h).sum() + (x * reflected).sum();
    const Tensor gradient = torch::autograd::grad({functional}, {k})[0];
    EXPECT_TRUE(torch::equal(gradient, torch::zeros_like(k)));
  }
}

TEST(Householder, GradientsAreFiniteAtEveryNorm) {
  torch::manual_seed(4);
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    for (const double scale : {1e-18, 1e-9, 1.0, 1e9, 1e18}) {
      for (const int64_t n : {1, 4, 64}) {
        const Tensor k = (scale * normal({2, n})).to(type).requires_grad_();
        const Tensor h = householder_matrix(k);
        EXPECT_TRUE(all_finite(torch::autograd::grad({(normal(h.sizes()) * h).sum()}, {k})[0]));
      }
    }
  }
}

TEST(Householder, Gradients) {
  torch::manual_seed(5);
  const Tensor k = normal({3, 4});
  expect_gradient([](const auto& in) { return unit_direction(in[0]); }, {k});
  expect_gradient([](const auto& in) { return householder_matrix(in[0]); }, {k});
  expect_gradient([](const auto& in) { return householder_reflect(in[0], in[1]); },
                  {k, normal({3, 4, 2})});
  expect_gradient([](const auto& in) { return delta(in[0], in[1], in[2]); },
                  {k, normal({3, 1}), normal({3, 4})});
}

TEST(Delta, OneDirectionServesEveryPosition) {
  torch::manual_seed(6);
  const Tensor k = normal({2, 1, 6});
  const Tensor beta = normal({2, 1, 1});
  const Tensor x = normal({2, 5, 6});
  const Tensor y = delta(k, beta, x);
  for (int64_t t = 0; t < 5; ++t) {
    EXPECT_LT(difference(y.select(1, t), delta(k.select(1, 0), beta.select(1, 0), x.select(1, t))),
              1e-15);
  }
}

}  // namespace
}  // namespace edelta::ops
