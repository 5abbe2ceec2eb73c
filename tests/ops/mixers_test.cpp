#include "edelta/ops/iterative_cayley.h"
#include "edelta/ops/routing.h"
#include "edelta/ops/sinkhorn.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "edelta/base/safetensors.h"
#include "golden.h"
#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::ops {
namespace {

using namespace test;

// exp, then rows and columns in turn, as the published model has it.
Tensor sinkhorn_definition(const Tensor& z, int64_t iterations) {
  Tensor m = z.exp();
  for (int64_t i = 0; i < iterations; ++i) {
    m = m / (m.sum(-1, true) + 1e-8);
    m = m / (m.sum(-2, true) + 1e-8);
  }
  return m;
}

TEST(Sinkhorn, MatchesItsDefinition) {
  torch::manual_seed(1);
  for (const int64_t n : {1, 2, 4, 9}) {
    for (const int64_t iterations : {0, 1, 2, 20}) {
      const Tensor z = 3 * normal({5, n, n});
      EXPECT_LT(relative_difference(sinkhorn(z, iterations), sinkhorn_definition(z, iterations)),
                1e-13);
    }
  }
}

TEST(Sinkhorn, HugeLogitsMatchTheDefinitionWhereItDoesNotOverflow) {
  torch::manual_seed(2);
  const Tensor sign = normal({50, 4, 4}).sign();
  for (const Tensor& z : {200 * sign, 100 * normal({50, 4, 4}).clamp(-2, 2),
                          torch::full({1, 4, 4}, 200.0, torch::kFloat64),
                          torch::full({1, 4, 4}, -200.0, torch::kFloat64)}) {
    const Tensor expected = sinkhorn_definition(z, 20);
    ASSERT_TRUE(all_finite(expected));
    EXPECT_LT(difference(sinkhorn(z), expected), 1e-11);
  }
}

TEST(Sinkhorn, HugeLogitsStayFinite) {
  torch::manual_seed(3);
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    for (const double size : {200.0, 1e4}) {
      for (const Tensor& pattern :
           {normal({50, 4, 4}).sign(), torch::ones({1, 4, 4}), -torch::ones({1, 4, 4})}) {
        const Tensor z = (size * pattern).to(type).requires_grad_();
        const Tensor m = sinkhorn(z);
        EXPECT_TRUE(all_finite(m));
        EXPECT_TRUE(all_finite(torch::autograd::grad({m.square().sum()}, {z})[0])) << size;
      }
    }
  }
}

TEST(Sinkhorn, Gradient) {
  torch::manual_seed(4);
  for (const int64_t iterations : {0, 1, 20}) {
    expect_gradient([=](const auto& in) { return sinkhorn(in[0], iterations); },
                    {normal({2, 4, 4})});
  }
}

TEST(Sinkhorn, MatchesTheGoldenTrace) {
  const auto path = golden_file("operators.safetensors");
  if (!path) GTEST_SKIP() << "no golden traces";
  const base::TensorFile golden = base::read_safetensors(*path);
  EXPECT_LT(difference(sinkhorn(golden.tensor("sinkhorn/logits")), golden.tensor("sinkhorn/M")),
            1e-13);
}

// N = αW/2 gives, by induction, Y₂ = I + 2N + 2N² + 2N³ from I + αW and Y₂ = I + 2N + 2N² from I.
TEST(IterativeCayley, MatchesItsPolynomial) {
  torch::manual_seed(5);
  const Tensor z = normal({5, 6, 6});
  const Tensor half = 0.3 / 2 * (z - z.transpose(-2, -1));
  const Tensor square = half.matmul(half);
  const Tensor from_identity = torch::eye(6, torch::kFloat64) + 2 * half + 2 * square;
  EXPECT_LT(difference(iterative_cayley_from_identity(z, {0.3, 2}), from_identity), 1e-14);
  EXPECT_LT(difference(iterative_cayley(z, {0.3, 2}), from_identity + 2 * square.matmul(half)),
            1e-14);
}

TEST(IterativeCayley, ConvergesToTheCayleyTransform) {
  torch::manual_seed(6);
  const Tensor z = normal({5, 4, 4});
  const Tensor half = 0.05 * (z - z.transpose(-2, -1));
  const Tensor identity = identity_like(z);
  const Tensor exact = torch::linalg_solve(identity - half, identity + half);
  EXPECT_LT(difference(iterative_cayley(z, {0.1, 60}), exact), 1e-14);
  EXPECT_LT(difference(iterative_cayley_from_identity(z, {0.1, 60}), exact), 1e-14);
}

TEST(IterativeCayley, Gradients) {
  torch::manual_seed(7);
  expect_gradient([](const auto& in) { return iterative_cayley(in[0]); }, {normal({2, 4, 4})});
  expect_gradient([](const auto& in) { return iterative_cayley_from_identity(in[0], {0.1, 2}); },
                  {normal({2, 4, 4})});
}

TEST(IterativeCayley, MatchesTheGoldenTrace) {
  const auto path = golden_file("operators.safetensors");
  if (!path) GTEST_SKIP() << "no golden traces";
  const base::TensorFile golden = base::read_safetensors(*path);
  EXPECT_LT(difference(iterative_cayley(golden.tensor("iterative_cayley/H")),
                       golden.tensor("iterative_cayley/Y")),
            1e-14);
}

Mixers mixers(const Tensor& z) { return token_mixers(torch::stack({z, z}, -3)); }

// The routing that the weights stand for, with whole matrices: mean_i (H_pre x)_i, and H_post times
// n copies of y.
TEST(RoutingWeights, MatchWholeMatrices) {
  torch::manual_seed(8);
  const int64_t n = 4, d = 3;
  const Tensor z = 2 * normal({5, n, n});
  const Tensor x = normal({5, n, d});
  const Tensor y = normal({5, 1, d});
  const Tensor h_pre = z.exp() / z.exp().sum(-1, true);
  const Tensor h_post = z.exp() / z.exp().sum(-2, true);
  EXPECT_LT(difference(mixers(z).pre.unsqueeze(-2).matmul(x), h_pre.matmul(x).mean(-2, true)),
            1e-14);
  EXPECT_LT(difference(mixers(z).post.unsqueeze(-1) * y, h_post.matmul(y.expand({5, n, d}))),
            1e-14);
}

TEST(RoutingWeights, TheThirdMatrixIsTheResidualMixer) {
  torch::manual_seed(10);
  const Tensor z = normal({5, 3, 4, 4});
  EXPECT_TRUE(
      torch::equal(token_mixers(z, {0.2, 3}).h_res, iterative_cayley(z.select(-3, 2), {0.2, 3})));
  EXPECT_FALSE(token_mixers(z.narrow(-3, 0, 2)).h_res.defined());
}

TEST(RoutingWeights, Gradients) {
  torch::manual_seed(9);
  expect_gradient([](const auto& in) { return mixers(in[0]).pre; }, {normal({3, 4, 4})});
  expect_gradient([](const auto& in) { return mixers(in[0]).post; }, {normal({3, 4, 4})});
}

}  // namespace
}  // namespace edelta::ops
