// What the recursive puzzle model is made of: against its definition, by differences, and against
// the golden traces.
#include "edelta/ops/puzzle.h"

#include <gtest/gtest.h>

#include "edelta/base/safetensors.h"
#include "edelta/ops/token_hybrid.h"
#include "golden.h"
#include "gradient_check.h"

namespace edelta::ops {
namespace {

using test::expect_gradient;
using test::normal;
using test::relative_difference;
using torch::Tensor;

TEST(PuzzleOps, NormaliseToLengthOne) {
  const Tensor x = normal({2, 3, 7}).to(torch::kFloat64);
  EXPECT_LT(relative_difference(rms_normalise(x, 0).square().mean(-1),
                                torch::ones({2, 3}, torch::kFloat64)),
            1e-15);
  expect_gradient([](const auto& in) { return rms_normalise(in[0], 1e-5); }, {x});
}

TEST(PuzzleOps, GradientsAreThoseOfDifferences) {
  expect_gradient([](const auto& in) { return swiglu(in[0], in[1], in[2]); },
                  {normal({2, 3, 5}), normal({14, 5}), normal({5, 7})});
  const RotaryTables tables = rotary_tables(4, 6, 10000, torch::kFloat64);
  expect_gradient([&](const auto& in) { return whole_attention(in[0], 2, tables); },
                  {normal({2, 4, 36})});
  expect_gradient([](const auto& in) { return whole_attention(in[0], 3, {}); },
                  {normal({2, 1, 9})});
}

TEST(PuzzleOps, GradientsOfNormedSublayersAreThoseOfDifferences) {
  torch::manual_seed(5);
  expect_gradient([](const auto& in) { return normed_swiglu(in[0], in[1], in[2], 1e-5); },
                  {normal({2, 3, 5}), normal({14, 5}), normal({5, 7})}, 1e-7);
  expect_gradient(
      [](const auto& in) { return normed_swiglu_over_positions(in[0], in[1], in[2], 1e-5); },
      {normal({2, 5, 3}), normal({14, 5}), normal({5, 7})}, 1e-7);
}

TEST(PuzzleOps, GradientsOfATokensOperatorAreThoseOfDifferences) {
  torch::manual_seed(5);
  for (const int64_t n : {1, 2, 3}) {
    expect_gradient(
        [=](const auto& in) {
          const TokenHybrid moved = token_hybrid(in[0], in[1], n);
          return moved.y + moved.gamma;
        },
        {normal({2, n * 2}), normal({2, 2 * n + 2 + n * 2})}, 1e-7);
  }
}

// By angles that are differences of positions alone: turning by t and by t + s leaves the products.
TEST(PuzzleOps, RotaryProductsDependOnTheDistanceAlone) {
  const RotaryTables tables = rotary_tables(9, 8, 100, torch::kFloat64);
  const Tensor q = normal({8}).to(torch::kFloat64), k = normal({8}).to(torch::kFloat64);
  const auto turned = [&](const Tensor& x, int64_t t) {
    const auto halves = x.chunk(2);
    return x * tables.cos[t] + torch::cat({-halves[1], halves[0]}) * tables.sin[t];
  };
  const auto product = [&](int64_t t, int64_t s) {
    return turned(q, t).dot(turned(k, s)).item<double>();
  };
  EXPECT_NEAR(product(1, 3), product(6, 8), 1e-12);
  EXPECT_GT(std::abs(product(1, 3) - product(1, 4)), 1e-3);
}

TEST(PuzzleOps, StablemaxIsAProbability) {
  // At 1 the branch that is not taken has a pole.
  const Tensor x = torch::tensor({{-3.0, 0.0, 1.0, 2.5}, {1.0, 1.0, 1.0, 1.0}}, torch::kFloat64);
  Tensor sum = torch::zeros({2}, torch::kFloat64);
  for (int64_t word = 0; word < 4; ++word) {
    sum += (-stablemax_losses(x, torch::full({2}, word, torch::kInt64))).exp();
  }
  EXPECT_LT(relative_difference(sum, torch::ones({2}, torch::kFloat64)), 1e-15);
  EXPECT_NEAR(stablemax_losses(x, torch::full({2}, 0, torch::kInt64))[0].item<double>(),
              -std::log(0.25 / (0.25 + 1 + 2 + 3.5)), 1e-15);

  Tensor input = x.clone().requires_grad_();
  const Tensor target = torch::tensor({int64_t{2}, kIgnoredCell});
  const Tensor losses = stablemax_losses(input, target);
  EXPECT_EQ(losses[1].item<double>(), 0);
  losses.sum().backward();
  EXPECT_TRUE(input.grad().isfinite().all().item<bool>());
  EXPECT_EQ(input.grad()[1].abs().max().item<double>(), 0);
  expect_gradient([&](const auto& in) { return stablemax_losses(in[0], torch::tensor({2, 0})); },
                  {normal({2, 4})}, 1e-6);
}

TEST(PuzzleOps, AgreeWithTheGoldenTraces) {
  const auto path = test::golden_file("trm/ops.safetensors");
  if (!path) GTEST_SKIP() << "no golden traces here";
  const base::TensorFile trace = base::read_safetensors(*path);
  const auto at = [&](const std::string& name) {
    return trace.tensor(name).to(torch::kFloat64).clone();
  };
  const auto expect_same = [&](const std::string& op, const std::vector<std::string>& inputs,
                               const std::function<Tensor(const std::vector<Tensor>&)>& f) {
    SCOPED_TRACE(op);
    std::vector<Tensor> given{at(op + "/x").requires_grad_()};
    for (const std::string& name : inputs) {
      given.push_back(at(op + "/param/" + name).requires_grad_());
    }
    const Tensor y = f(given);
    EXPECT_LT(relative_difference(y, at(op + "/y")), 1e-12);
    (y * at(op + "/w")).sum().backward();
    EXPECT_LT(relative_difference(given[0].grad(), at(op + "/grad_x")), 1e-12);
    for (size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_LT(relative_difference(given[i + 1].grad(), at(op + "/grad/" + inputs[i])), 1e-12);
    }
  };
  expect_same("rms_norm", {}, [](const auto& in) { return rms_normalise(in[0], 1e-5); });
  expect_same("swiglu", {"gate_up_proj.weight", "down_proj.weight"},
              [](const auto& in) { return swiglu(in[0], in[1], in[2]); });
  const RotaryTables tables = rotary_tables(5, 6, 10000, torch::kFloat64);
  EXPECT_LT(relative_difference(tables.cos, at("attention/cos")), 1e-12);
  EXPECT_LT(relative_difference(tables.sin, at("attention/sin")), 1e-12);
  expect_same("attention", {"qkv_proj.weight", "o_proj.weight"}, [&](const auto& in) {
    return whole_attention(in[0].matmul(in[1].t()), 2, tables).matmul(in[2].t());
  });
  Tensor logits = at("stablemax/logits").requires_grad_();
  const Tensor losses =
      stablemax_losses(logits, trace.tensor("stablemax/labels").to(torch::kInt64));
  EXPECT_LT(relative_difference(losses, at("stablemax/loss")), 1e-12);
  losses.sum().backward();
  EXPECT_LT(relative_difference(logits.grad(), at("stablemax/grad")), 1e-12);
}

}  // namespace
}  // namespace edelta::ops
