#include "edelta/geometry/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "edelta/geometry/hybrid.h"
#include "edelta/ops/pooling.h"
#include "gradient_check.h"
#include "tensor_checks.h"

namespace edelta::geometry {
namespace {

using namespace test;

using Make = std::shared_ptr<Generator> (*)(const GeneratorOptions&);

constexpr int64_t kBatch = 2, kLength = 6, kWidth = 8, kStreams = 4, kHidden = 5;
constexpr Make kMakers[] = {make_net_generator, make_joint_generator, make_fixed_generator};

GeneratorOptions options(Branch branch = Branch::hybrid) {
  return {.width = kWidth,
          .streams = kStreams,
          .hidden = kHidden,
          .branch = branch,
          .init_gate_bias = -1.5};
}

// In float64 with every parameter random, so that no part of a net goes untested.
std::shared_ptr<Generator> random_generator(Make make, Branch branch = Branch::hybrid) {
  const auto generator = make(options(branch));
  generator->to(torch::kFloat64);
  const torch::NoGradGuard no_grad;
  for (Tensor& parameter : generator->parameters()) parameter.normal_(0, 0.7);
  return generator;
}

Tensor net(const torch::OrderedDict<std::string, Tensor>& p, const std::string& name,
           const Tensor& x) {
  const Tensor a = x.matmul(p[name + ".0.weight"].t()) + p[name + ".0.bias"];
  const Tensor gelu = a * (1 + torch::erf(a / std::sqrt(2.0))) / 2;
  return gelu.matmul(p[name + ".2.weight"].t()) + p[name + ".2.bias"];
}

Tensor plain_softplus(const Tensor& x) { return (1 + x.exp()).log(); }
Tensor plain_sigmoid(const Tensor& x) { return 1 / (1 + (-x).exp()); }

void expect_same(const OperatorParameters& a, const OperatorParameters& b) {
  EXPECT_LT(difference(a.u, b.u), 1e-13);
  EXPECT_LT(difference(a.v, b.v), 1e-13);
  EXPECT_LT(difference(a.beta, b.beta), 1e-13);
  EXPECT_LT(difference(a.k, b.k), 1e-13);
  EXPECT_LT(difference(a.gamma, b.gamma), 1e-13);
}

// The parts of a row in the order u, v, β, k, γ-logit.
OperatorParameters parts(const Tensor& row) {
  const auto part = [&](int64_t at, int64_t count) { return row.narrow(-1, at, count); };
  return {part(0, kStreams), part(kStreams, kStreams), plain_softplus(part(2 * kStreams, 1)),
          part(2 * kStreams + 1, kStreams), plain_sigmoid(part(3 * kStreams + 1, 1))};
}

TEST(Generator, NetsMatchTheirDefinition) {
  torch::manual_seed(1);
  const auto generator = random_generator(make_net_generator);
  const auto p = generator->named_parameters();
  const Tensor x = normal({kBatch, kLength, kWidth});
  const Tensor logit = x.matmul(p["gate_net.weight"].t()) + p["gate_net.bias"];
  expect_same(generator->generate(x),
              {net(p, "u_net", x), net(p, "v_net", x), plain_softplus(net(p, "beta_net", x)),
               net(p, "k_net", x), plain_sigmoid(logit)});
}

TEST(Generator, JointNetMatchesItsDefinition) {
  torch::manual_seed(2);
  const auto generator = random_generator(make_joint_generator);
  const auto p = generator->named_parameters();
  const Tensor x = normal({kBatch, kLength, kWidth});
  const Tensor centred = x - x.mean(-1, true);
  const Tensor normalised = centred / (centred.square().mean(-1, true) + 1e-5).sqrt();
  expect_same(generator->generate(x),
              parts(net(p, "geo_proj", normalised * p["norm.weight"] + p["norm.bias"])));
}

TEST(Generator, FixedLooksAtNothing) {
  torch::manual_seed(3);
  const auto generator = random_generator(make_fixed_generator);
  const Tensor row = generator->named_parameters()["geometry"];
  expect_same(generator->generate(normal({kBatch, kLength, kWidth})),
              parts(row.expand({kBatch, 1, -1})));
}

TEST(Generator, BranchHasOnlyItsParts) {
  for (const Make make : kMakers) {
    for (const Branch branch : {Branch::hybrid, Branch::cayley, Branch::householder}) {
      const OperatorParameters p =
          random_generator(make, branch)->generate(normal({kBatch, 1, kWidth}));
      const bool rotation = branch != Branch::householder, reflection = branch != Branch::cayley;
      for (const Tensor& part : {p.u, p.v, p.beta}) EXPECT_EQ(part.defined(), rotation);
      EXPECT_EQ(p.k.defined(), reflection);
      EXPECT_EQ(p.gamma.defined(), rotation && reflection);
    }
  }
}

// |u| and |v|, by which each other's gradient is scaled.
TEST(Generator, LiveRotationsTurnFromTheStart) {
  torch::manual_seed(6);
  for (const Make make : kMakers) {
    for (const Branch branch : {Branch::hybrid, Branch::cayley}) {
      for (const OperatorInit init : {OperatorInit::normal, OperatorInit::live}) {
        GeneratorOptions given = options(branch);
        given.init = init;
        const auto generator = make(given);
        generator->to(torch::kFloat64);
        {
          const torch::NoGradGuard no_grad;
          for (Tensor& parameter : generator->parameters()) {
            parameter.dim() > 1 ? parameter.normal_(0, 0.02) : parameter.zero_();
          }
          for (Tensor table : generator->tables()) table.normal_(0, 0.02);
          generator->initialise();
        }
        const OperatorParameters p = generator->generate(normal({kBatch, 1, kWidth}));
        const double u = p.u.norm(2, -1).min().item<double>();
        const double v = p.v.norm(2, -1).min().item<double>();
        if (init == OperatorInit::live) {
          EXPECT_NEAR(u, 1, 0.05);
          EXPECT_NEAR(v, 1, 0.05);
          EXPECT_GT(difference(p.u, p.v), 0.1) << "two directions";
        } else {
          EXPECT_LT(u, 0.1);
          EXPECT_LT(v, 0.1);
        }
      }
    }
  }
}

TEST(Generator, GateStartsAtItsBiasWhereverItLooks) {
  torch::manual_seed(4);
  for (const Make make : {make_net_generator, make_fixed_generator}) {
    const auto generator = random_generator(make);
    generator->initialise();
    const Tensor gamma = generator->generate(normal({kBatch, 1, kWidth})).gamma;
    EXPECT_LT(largest(gamma - 1 / (1 + std::exp(1.5))), 1e-7);
  }
  const auto fused = random_generator(make_joint_generator);
  fused->initialise();
  EXPECT_EQ(fused->named_parameters()["geo_proj.2.bias"][-1].item<double>(), -1.5);
}

TEST(Generator, GateGradientKeepsThePenaltyFromTheFeatures) {
  torch::manual_seed(5);
  for (const Make make : kMakers) {
    GeneratorOptions gate_alone = options();
    gate_alone.gate_gradient = GateGradient::gate;
    const auto all = random_generator(make);
    const auto gate = make(gate_alone);
    gate->to(torch::kFloat64);
    {
      const torch::NoGradGuard no_grad;
      for (const auto& item : all->named_parameters()) {
        gate->named_parameters()[item.key()].copy_(item.value());
      }
    }
    const Tensor pooled = normal({kBatch, kLength, kWidth}).requires_grad_();
    const OperatorParameters p = gate->generate(pooled);
    expect_same(p, all->generate(pooled));
    const Tensor penalised = p.penalised_gamma.defined() ? p.penalised_gamma : p.gamma;
    // Some processors' matrix products depend on where their operands lie, in the last bit.
    EXPECT_LT(largest(penalised - p.gamma), 1e-15);
    penalised.square().sum().backward();
    EXPECT_FALSE(pooled.grad().defined() && largest(pooled.grad()) > 0);
    double reached = 0;
    for (const Tensor& parameter : gate->parameters()) {
      if (parameter.grad().defined()) reached = std::max(reached, largest(parameter.grad()));
    }
    EXPECT_GT(reached, 0);
    // Where nothing is differentiated there is no second look.
    const torch::NoGradGuard no_grad;
    EXPECT_FALSE(gate->generate(pooled).penalised_gamma.defined());
  }
}

TEST(Generator, FixedNeverStartsDead) {
  for (int64_t seed = 0; seed < 20; ++seed) {
    torch::manual_seed(seed);
    const OperatorParameters p =
        make_fixed_generator(options())->generate(torch::zeros({1, 1, kWidth}));
    for (const Tensor& part : {p.u, p.v, p.k}) EXPECT_GT(largest(part), 1e-4);
  }
}

TEST(Generator, Gradients) {
  torch::manual_seed(5);
  for (const Make make : {make_net_generator, make_joint_generator}) {
    const auto generator = random_generator(make);
    expect_gradient(
        [&](const auto& in) {
          const OperatorParameters p = generator->generate(in[0]);
          return torch::cat({p.u, p.v, p.beta, p.k, p.gamma}, -1);
        },
        {normal({kBatch, 2, kWidth})});
  }
}

TEST(Generator, EveryParameterGetsAGradient) {
  torch::manual_seed(6);
  for (const Make make : kMakers) {
    const auto generator = random_generator(make);
    const OperatorParameters p = generator->generate(normal({kBatch, 1, kWidth}));
    torch::cat({p.u, p.v, p.beta, p.k, p.gamma}, -1).square().sum().backward();
    for (const auto& parameter : generator->named_parameters()) {
      EXPECT_GT(largest(parameter.value().grad()), 0) << parameter.key();
    }
  }
}

// The whole residual operator: pool, generate, blend, mix. True where no output at a position ≤ t
// moves by a single bit when everything after t changes.
bool causal(Make make, ops::Pool pool, Blend blend, torch::ScalarType type) {
  const auto generator = random_generator(make);
  generator->to(type);
  const auto residual = [&](const Tensor& x) {
    const OperatorParameters p = generator->generate(ops::pool(x, pool).y);
    return hybrid_operator(p, Branch::hybrid, blend)(x);
  };
  const Tensor x = normal({kBatch, kLength, kWidth}).to(type);
  const Tensor y = residual(x);
  for (int64_t t = 0; t + 1 < kLength; ++t) {
    Tensor changed = x.clone();
    changed.narrow(1, t + 1, kLength - t - 1).normal_(0, 10);
    if (!torch::equal(residual(changed).narrow(1, 0, t + 1), y.narrow(1, 0, t + 1))) return false;
  }
  return true;
}

TEST(Generator, PrefixAndTokenOperatorsAreCausalBitForBit) {
  torch::manual_seed(7);
  const torch::NoGradGuard no_grad;
  for (const Make make : {make_net_generator, make_joint_generator}) {
    for (const Blend blend : {Blend::linear, Blend::hard, Blend::geodesic}) {
      for (const auto type : {torch::kFloat64, torch::kFloat32}) {
        EXPECT_TRUE(causal(make, ops::Pool::prefix, blend, type));
        EXPECT_TRUE(causal(make, ops::Pool::token, blend, type));
        EXPECT_FALSE(causal(make, ops::Pool::sequence, blend, type));
      }
    }
  }
}

}  // namespace
}  // namespace edelta::geometry
