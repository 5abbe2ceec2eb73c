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
    EXPECT_EQ(total, 5);
  };
  for (const ReflectionRun& run : probe_reflection(options)) {
    EXPECT_EQ(run.has_beta, run.name == "ddl" || run.name == "hybrid") << run.name;
    EXPECT_EQ(run.has_gamma, run.name == "hybrid") << run.name;
    EXPECT_EQ(run.trajectory.front().iteration, 0);
    EXPECT_EQ(run.final().iteration, 30);
    EXPECT_LE(std::abs(run.final().alignment), 1 + 1e-6) << run.name;
    EXPECT_LT(run.final().loss, run.trajectory.front().loss) << run.name;
  }
  EXPECT_EQ(calls, 5);
}

TEST(ReflectionProbe, TheGateStartsNearTheReflection) {
  ReflectionProbeOptions options = small();
  options.operators = {"hybrid"};
  for (const ReflectionRun& run : probe_reflection(options)) {
    EXPECT_NEAR(run.trajectory.front().gamma, 1 / (1 + std::exp(1.5)), 1e-6);
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
  options.samples = {0};
  test::expect_error<InputError>([&] { probe_reflection(options); }, "samples");
}

}  // namespace
}  // namespace edelta::probes
