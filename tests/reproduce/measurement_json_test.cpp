// What the program prints of a measurement is read back as it was.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/bench.h"
#include "edelta/base/error.h"
#include "edelta/models/parameter_count.h"
#include "edelta/probes/depth.h"
#include "edelta/probes/probes.h"
#include "edelta/probes/reflection_probe.h"
#include "edelta/verify/theorems.h"
#include "expect_error.h"

namespace edelta {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// As it comes from a file.
json parsed(const ordered_json& written) { return json::parse(written.dump(2)); }

TEST(MeasurementJson, Theorems) {
  using verify::Relation;
  const verify::TheoremReport report{
      {.samples = 3, .sizes = {2, 4}, .seed = 7},
      {{"small", "error", 1.25e-15, Relation::at_most, 1e-12, "noted", "a"},
       {"large", "distance", 0.1, Relation::at_least, 0.5, "", "b"},
       {"wild", "ratio", NAN, Relation::at_most, 1, "", "c"},
       {"endless", "gap", INFINITY, Relation::at_least, 1, "", "d"}}};
  const verify::TheoremReport read =
      verify::theorem_report_from_json(parsed(to_json(report)), "file");
  EXPECT_EQ(to_json(read).dump(), to_json(report).dump());
  EXPECT_EQ(read.failures(), 2);
  EXPECT_TRUE(read.rows[3].holds());
  json damaged = parsed(to_json(report));
  damaged["rows"][1]["relation"] = "==";
  test::expect_error<InputError>([&] { verify::theorem_report_from_json(damaged, "file"); }, "file",
                                 "relation", "<= or >=");
}

TEST(MeasurementJson, ParameterCounts) {
  const std::vector<models::ParameterCount> counts{{"gpt", 9, 128, 4, 4, 1780224}};
  const auto read = models::parameter_counts_from_json(parsed(models::to_json(counts)), "file");
  EXPECT_EQ(models::to_json(read).dump(), models::to_json(counts).dump());
}

TEST(MeasurementJson, Norms) {
  const probes::NormProbe probe{{1.0, 0.3}, {0.1, NAN}, 0.35, 0.3};
  const ordered_json written = to_json(probe, {}, "runs/x");
  const probes::NormProbe read = probes::norm_probe_from_json(parsed(written), "file");
  EXPECT_EQ(to_json(read, {}, "runs/x").dump(), written.dump());
  json damaged = parsed(written);
  damaged["deviation"].push_back(1);
  test::expect_error<InputError>([&] { probes::norm_probe_from_json(damaged, "file"); }, "file",
                                 "deviation");
}

TEST(MeasurementJson, ReflectionRuns) {
  const std::vector<probes::ReflectionRun> runs{
      {"ddl", 10, 42, true, false, {{0, -1, 4, 0.5, 0}, {40, 0.25, 1, 1.5, 0}}},
      {"gpt", 500, 1, false, false, {{0, -1, 4, 0, 0}}}};
  const ordered_json written = to_json(runs, {.operators = {}, .on_progress = {}});
  const auto read = probes::reflection_runs_from_json(parsed(written), "file");
  EXPECT_EQ(to_json(read, {.operators = {}, .on_progress = {}}).dump(), written.dump());
}

TEST(MeasurementJson, DepthRuns) {
  const probes::DepthProfile start{.loss = 0.0625,
                                   .signal = {1, 1.5, NAN},
                                   .gradient = {0.25, 0.5, 1},
                                   .token_cosine = {0, 0.5, 1},
                                   .stream_cosine = {0, 0.1, 0.2},
                                   .product = probes::ResidualProduct{1e-17, 2, 3}};
  const probes::DepthProfile trained{.loss = 0.03, .signal = {1, 2, 3}, .gradient = {4, 2, 1}};
  const std::vector<probes::DepthRun> runs{{"edelta", 2, start, trained}, {"gpt", 2, trained, {}}};
  const ordered_json written = to_json(runs, probes::DepthProbeOptions());
  const auto read = probes::depth_runs_from_json(parsed(written), "file");
  EXPECT_EQ(to_json(read, probes::DepthProbeOptions()).dump(), written.dump());
  json damaged = parsed(written);
  damaged["runs"][1]["start"]["signal"].push_back(1);
  test::expect_error<InputError>([&] { probes::depth_runs_from_json(damaged, "file"); }, "file",
                                 "signal");
}

TEST(MeasurementJson, Bench) {
  bench::ModelBench model;
  model.model = "gpt";
  model.tokens = 64;
  model.gflop = 1.7;
  model.peak_gflops = 97.3;
  model.fused = {0.0123, 0.0271, 0.0011, 64 / 0.0097};
  model.fused_memory = {1 << 20, 0};
  model.phases = {{"linear", 12, 0.011}};
  bench::BenchReport report{2, 32, 88.5, {model}};
  model.composite = bench::StepTimes{0.03, 0.07, 0.003, 64 / 0.031};
  report.results.push_back(model);
  const auto read = bench::bench_report_from_json(parsed(to_json(report)), "file");
  EXPECT_EQ(to_json(read).dump(), to_json(report).dump());
  EXPECT_FALSE(read.results[0].composite);
  EXPECT_TRUE(read.results[1].composite);
}

}  // namespace
}  // namespace edelta
