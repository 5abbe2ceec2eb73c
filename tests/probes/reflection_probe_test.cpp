#include "edelta/probes/reflection_probe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "edelta/probes/reflection.h"
#include "expect_error.h"

namespace edelta::probes {
namespace {

ReflectionProbeOptions small() {
  ReflectionProbeOptions options;
  options.samples = {8, 40};
  options.seeds = {1, 2};
  options.iterations = 30;
  options.dim = 8;
  options.hidden = 16;
  return options;
}

TEST(ReflectionProbe, DoesNotDependOnTheNumberOfWorkers) {
  ReflectionProbeOptions options = small();
  const auto one = to_json(probe_reflection(options), options);
  options.workers = 3;
  EXPECT_EQ(one, to_json(probe_reflection(options), options));
  EXPECT_EQ(one["runs"].size(), reflection_operator_names().size() * 4);
}

TEST(ReflectionProbe, ReportsWhatAnOperatorHas) {
  ReflectionProbeOptions options = small();
  options.samples = {8};
  options.seeds = {1};
  int64_t calls = 0;
  options.on_progress = [&](int64_t done, int64_t total) {
    EXPECT_EQ(done, ++calls);
    EXPECT_EQ(total, 9);
  };
  for (const ReflectionRun& run : probe_reflection(options)) {
    const bool gated = run.name == "hybrid" || run.name == "geodesic" || run.name == "unitary";
    EXPECT_EQ(run.has_beta, run.name == "ddl" || gated) << run.name;
    EXPECT_EQ(run.has_gamma, gated) << run.name;
    EXPECT_EQ(run.trajectory.front().iteration, 0);
    EXPECT_EQ(run.final().iteration, 30);
    EXPECT_LE(std::abs(run.final().alignment), 1 + 1e-6) << run.name;
    EXPECT_LT(run.final().loss, run.trajectory.front().loss) << run.name;
  }
  EXPECT_EQ(calls, 9);
}

TEST(ReflectionProbe, TheGateStartsNearTheReflection) {
  ReflectionProbeOptions options = small();
  options.operators = {"hybrid", "geodesic", "unitary"};
  for (const ReflectionRun& run : probe_reflection(options)) {
    EXPECT_NEAR(run.trajectory.front().gamma, 1 / (1 + std::exp(1.5)), 1e-6);
  }
}

// Their gates have no loss, and so no pull that the task does not give them.
TEST(ReflectionProbe, OnlyTheLinearBlendHasAGateLoss) {
  const torch::Tensor x = torch::ones({3, 4});
  for (const std::string& name : reflection_operator_names()) {
    const auto output = make_reflection_operator(name, 4, 5)->forward(x);
    EXPECT_EQ(reflection_gate_loss(output).item<double>() > 0, name == "hybrid") << name;
  }
}

TEST(ReflectionProbe, TheOrthogonalOperatorsKeepTheLength) {
  torch::manual_seed(1);
  const torch::Tensor x = torch::randn({20, 6});
  for (const char* name : {"cayley", "householder", "geodesic", "unitary"}) {
    const torch::Tensor y = make_reflection_operator(name, 6, 8)->forward(x).y;
    EXPECT_LT((y.norm(2, -1) / x.norm(2, -1) - 1).abs().max().item<double>(), 1e-6) << name;
    EXPECT_GT((y - x).abs().max().item<double>(), 1e-3) << name;
  }
}

TEST(ReflectionProbe, TheResidualMlpLearnsTheNegation) {
  ReflectionProbeOptions options = small();
  options.operators = {"gpt"};
  options.samples = {400};
  options.iterations = 600;
  for (const ReflectionRun& run : probe_reflection(options)) {
    EXPECT_LT(run.trajectory.front().alignment, -0.5);
    EXPECT_GT(run.final().alignment, 0.6);
  }
}

TEST(ReflectionProbe, RefusesWhatCannotBe) {
  ReflectionProbeOptions options = small();
  options.operators = {"rnn"};
  test::expect_error<InputError>([&] { probe_reflection(options); }, "rnn", "hybrid");
  options = small();
  options.operators = {"unitary"};
  options.dim = 7;
  test::expect_error<InputError>([&] { probe_reflection(options); }, "dim is 7", "even");
  options = small();
  options.samples = {0};
  test::expect_error<InputError>([&] { probe_reflection(options); }, "samples");
}

}  // namespace
}  // namespace edelta::probes
