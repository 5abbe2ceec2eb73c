#include "edelta/geometry/hybrid.h"

#include <gtest/gtest.h>

#include <vector>

#include "edelta/ops/cayley.h"
#include "edelta/ops/geodesic.h"
#include "edelta/ops/householder.h"
#include "edelta/ops/unitary.h"
#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::geometry {
namespace {

using namespace test;

constexpr int64_t kBatch = 3, kLength = 4, kStreams = 4, kWidth = 12;

OperatorParameters parameters(int64_t operators, torch::ScalarType type = torch::kFloat64) {
  const auto vector = [&](int64_t size) { return normal({kBatch, operators, size}).to(type); };
  return {vector(kStreams), vector(kStreams), vector(1).exp(), vector(kStreams),
          vector(1).sigmoid()};
}

OperatorParameters from_list(const std::vector<Tensor>& in) {
  return {in[0], in[1], in[2], in[3], in[4]};
}

std::vector<Tensor> as_list(const OperatorParameters& p) {
  return {p.u, p.v, p.beta, p.k, p.gamma};
}

Tensor applied(const std::vector<Tensor>& in, Blend blend) {
  return hybrid_operator(from_list(in), Branch::hybrid, blend)(in[5]);
}

TEST(Hybrid, MatchesItsDefinition) {
  torch::manual_seed(1);
  const OperatorParameters p = parameters(kLength);
  const Tensor gamma = p.gamma.unsqueeze(-1);
  const Tensor q = ops::cayley_matrix(p.u, p.v, p.beta);
  const Tensor h = ops::householder_matrix(p.k);
  const Tensor g = gamma * q + (1 - gamma) * h;
  EXPECT_LT(difference(hybrid_operator(p, Branch::hybrid, Blend::linear).value, g), 1e-15);
  EXPECT_TRUE(torch::equal(hybrid_operator(p, Branch::cayley, Blend::linear).value, q));
  EXPECT_TRUE(torch::equal(hybrid_operator(p, Branch::householder, Blend::linear).value, h));
  const Tensor x = normal({kBatch, kLength, kStreams, 3});
  EXPECT_LT(difference(hybrid_apply(p, x), g.matmul(x)), 1e-13);
  EXPECT_LT(difference(hybrid_operator(p, Branch::hybrid, Blend::linear)(x.flatten(-2)),
                       g.matmul(x).flatten(-2)),
            1e-13);
}

TEST(Hybrid, OrthogonalBlendsMatchTheirOps) {
  torch::manual_seed(6);
  const OperatorParameters p = parameters(kLength);
  const Tensor x = normal({kBatch, kLength, kStreams, 3});
  const auto expect = [&](Branch branch, ScalarField field, const Tensor& g) {
    const StreamOperator found = hybrid_operator(p, branch, Blend::geodesic, field);
    EXPECT_TRUE(torch::equal(found.value, g));
    EXPECT_TRUE(found.value.is_same(found.gradient));
    EXPECT_LT(difference(hybrid_apply(p, x, branch, Blend::geodesic, field), g.matmul(x)), 1e-13);
  };
  expect(Branch::hybrid, ScalarField::real, ops::geodesic_matrix(p.u, p.v, p.beta, p.k, p.gamma));
  expect(Branch::cayley, ScalarField::real, ops::cayley_matrix(p.u, p.v, p.beta));
  expect(Branch::householder, ScalarField::real, ops::householder_matrix(p.k));
  expect(Branch::hybrid, ScalarField::complex, ops::unitary_matrix(p.u, p.v, p.beta, p.k, p.gamma));
  expect(Branch::cayley, ScalarField::complex, ops::unitary_rotation_matrix(p.u, p.v, p.beta));
  expect(Branch::householder, ScalarField::complex, ops::unitary_reflection_matrix(p.k));
}

TEST(Hybrid, BranchesNeedOnlyTheirOwnParameters) {
  torch::manual_seed(2);
  const OperatorParameters p = parameters(1);
  const Blend blend = Blend::hard;
  EXPECT_TRUE(hybrid_operator({p.u, p.v, p.beta, {}, {}}, Branch::cayley, blend).value.defined());
  EXPECT_TRUE(hybrid_operator({{}, {}, {}, p.k, {}}, Branch::householder, blend).value.defined());
}

TEST(Hybrid, HardBlendIsExactlyOneBranch) {
  torch::manual_seed(3);
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    OperatorParameters p = parameters(50, type);
    p.gamma.select(1, 0).fill_(0.5);
    const Tensor value = hybrid_operator(p, Branch::hybrid, Blend::hard).value;
    const Tensor q = ops::cayley_matrix(p.u, p.v, p.beta);
    const Tensor h = ops::householder_matrix(p.k);
    int64_t rotations = 0;
    for (int64_t b = 0; b < kBatch; ++b) {
      for (int64_t t = 0; t < 50; ++t) {
        const bool rotates = p.gamma[b][t].item<double>() > 0.5;
        rotations += rotates;
        EXPECT_TRUE(torch::equal(value[b][t], (rotates ? q : h)[b][t]));
      }
    }
    EXPECT_GT(rotations, 0);
    EXPECT_LT(rotations, kBatch * 50);
    EXPECT_LT(orthogonality_error(value), type == torch::kFloat64 ? 1e-12 : 2e-6);
  }
}

TEST(Hybrid, HardBlendHasTheGradientOfTheLinearOne) {
  torch::manual_seed(4);
  std::vector<Tensor> in = as_list(parameters(kLength));
  in.push_back(normal({kBatch, kLength, kWidth}));
  for (Tensor& tensor : in) tensor = tensor.detach().clone().requires_grad_();
  const Tensor direction = normal({kBatch, kLength, kWidth});
  const auto gradients = [&](Blend blend) {
    return torch::autograd::grad({(direction * applied(in, blend)).sum()}, in);
  };
  const auto hard = gradients(Blend::hard);
  const auto linear = gradients(Blend::linear);
  for (size_t i = 0; i < in.size(); ++i) {
    EXPECT_GT(largest(linear[i]), 0);
    EXPECT_TRUE(torch::equal(hard[i], linear[i])) << i;
  }
}

TEST(Hybrid, Gradients) {
  torch::manual_seed(5);
  for (const int64_t operators : {int64_t{1}, kLength}) {
    std::vector<Tensor> in = as_list(parameters(operators));
    // The five-point formula needs β well inside its smooth range.
    in[2] = 0.5 + in[2].clamp_max(2);
    in.push_back(normal({kBatch, kLength, kWidth}));
    expect_gradient([](const auto& i) { return applied(i, Blend::linear); }, in);
  }
  std::vector<Tensor> in = as_list(parameters(1));
  in[2] = 0.5 + in[2].clamp_max(2);
  in.push_back(normal({kBatch, 1, kStreams, 2}));
  expect_gradient([](const auto& i) { return hybrid_apply(from_list(i), i[5]); }, in);
}

}  // namespace
}  // namespace edelta::geometry
