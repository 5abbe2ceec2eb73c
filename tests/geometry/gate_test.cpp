#include "edelta/geometry/gate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::geometry {
namespace {

using namespace test;

constexpr GateRegulariser kAll[] = {GateRegulariser::product, GateRegulariser::entropy,
                                    GateRegulariser::squared_product,
                                    GateRegulariser::min_distance};

double defined(double g, GateRegulariser regulariser) {
  switch (regulariser) {
    case GateRegulariser::product:
      return 4 * g * (1 - g);
    case GateRegulariser::entropy:
      return -g * std::log(g) - (1 - g) * std::log(1 - g);
    case GateRegulariser::squared_product:
      return std::pow(g * (1 - g), 2);
    case GateRegulariser::min_distance:
      return std::min(g * g, (1 - g) * (1 - g));
  }
  return NAN;
}

// Gates away from ½, where the min-distance has its kink.
Tensor gates() {
  return torch::tensor({1e-3, 0.1, 0.3, 0.45, 0.55, 0.7, 0.9, 0.99}, torch::kFloat64);
}

TEST(Gate, PenaltiesMatchTheirDefinitions) {
  const Tensor gamma = gates();
  for (const GateRegulariser regulariser : kAll) {
    const Tensor penalty = gate_penalty(gamma, regulariser);
    for (int64_t i = 0; i < gamma.numel(); ++i) {
      EXPECT_NEAR(penalty[i].item<double>(), defined(gamma[i].item<double>(), regulariser), 1e-15);
    }
  }
}

TEST(Gate, DecidedGatesCostNothingAndHaveFiniteGradients) {
  for (const auto type : {torch::kFloat64, torch::kFloat32}) {
    for (const GateRegulariser regulariser : kAll) {
      const Tensor gamma = torch::tensor({0.0, 1.0}, type).requires_grad_();
      const Tensor penalty = gate_penalty(gamma, regulariser);
      EXPECT_TRUE(torch::equal(penalty, torch::zeros({2}, type)));
      EXPECT_TRUE(all_finite(torch::autograd::grad({penalty.sum()}, {gamma})[0]))
          << static_cast<int>(regulariser);
    }
  }
}

TEST(Gate, SaturatedLogitsHaveNoGradient) {
  for (const GateRegulariser regulariser : kAll) {
    const Tensor logit = torch::tensor({-200.0, 200.0}, torch::kFloat32).requires_grad_();
    const Tensor loss = gate_loss({torch::sigmoid(logit)}, regulariser, 0.1);
    const Tensor gradient = torch::autograd::grad({loss}, {logit})[0];
    EXPECT_TRUE(torch::equal(gradient, torch::zeros({2}))) << gradient;
  }
}

TEST(Gate, Gradients) {
  torch::manual_seed(1);
  const Tensor gamma = gates().narrow(0, 1, 6);
  for (const GateRegulariser regulariser : kAll) {
    expect_gradient([=](const auto& in) { return gate_penalty(in[0], regulariser); }, {gamma});
    expect_gradient([=](const auto& in) { return gate_loss({in[0], in[1]}, regulariser, 0.5); },
                    {gamma, gamma.narrow(0, 0, 2)});
  }
}

TEST(Gate, LossIsAMeanOverGatesAndASumOverOperators) {
  torch::manual_seed(2);
  const Tensor a = torch::rand({3, 1, 1}, torch::kFloat64);
  const Tensor b = torch::rand({3, 7, 1}, torch::kFloat64);
  for (const GateRegulariser regulariser : kAll) {
    const double expected = 0.3 * (gate_penalty(a, regulariser).sum().item<double>() / 3 +
                                   gate_penalty(b, regulariser).sum().item<double>() / 21);
    EXPECT_NEAR(gate_loss({a, b}, regulariser, 0.3).item<double>(), expected, 1e-15);
    EXPECT_EQ(gate_loss({}, regulariser, 0.3).item<double>(), 0);
  }
}

}  // namespace
}  // namespace edelta::geometry
