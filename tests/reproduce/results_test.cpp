#include "reproduce/results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/json.h"
#include "edelta/base/error.h"
#include "edelta/train/run_folder.h"
#include "expect_error.h"
#include "fake_run.h"
#include "reproduce/collect.h"
#include "reproduce/compared_quantity.h"
#include "reproduce/curve.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/regulariser_figure.h"
#include "reproduce/plan.h"
#include "reproduce/results_json.h"
#include "reproduce/table.h"
#include "reproduce/verdict.h"
#include "temporary_folder.h"

namespace edelta::reproduce {
namespace {

double number(const Row& row, const std::string& key) { return std::get<double>(row.cell(key)); }
int64_t rank(const Row& row, const std::string& key) { return std::get<Rank>(row.cell(key)).value; }
bool absent(const Row& row, const std::string& key) {
  return std::holds_alternative<Absent>(row.cell(key));
}

// Made-up papers: a and b are apart, b and c are not.
std::vector<ComparedRow> rows(std::optional<double> a, std::optional<double> b,
                              std::optional<double> c) {
  return {{"a", {1.0, 0.1}, a}, {"b", {2.0, 0.2}, b}, {"c", {2.3, 0.2}, c}};
}

TEST(Verdict, Holds) { EXPECT_EQ(judge(rows(1.1, 2.5, 2.4), kLossTolerance).text, "holds"); }

TEST(Verdict, HoldsInOrderButNotInSize) {
  const Verdict verdict = judge(rows(0.4, 2.0, 2.3), kLossTolerance);
  EXPECT_EQ(verdict.text, "holds in order but not in size");
  EXPECT_NE(verdict.reason.find("0.4 (a)"), std::string::npos) << verdict.reason;
  EXPECT_EQ(judge(rows(1.0, 2.0, 4.7), kLossTolerance).text, "holds in order but not in size");
}

TEST(Verdict, DoesNotHoldNamesTheReversedPairs) {
  const Verdict verdict = judge(rows(2.2, 2.1, 2.3), kLossTolerance);
  EXPECT_EQ(verdict.text, "does not hold");
  EXPECT_NE(verdict.reason.find("1 of the 2 pairs"), std::string::npos) << verdict.reason;
  EXPECT_NE(verdict.reason.find("a 2.2 against b 2.1"), std::string::npos) << verdict.reason;
}

TEST(Verdict, PairsThatThePaperDoesNotSeparateDoNotCount) {
  EXPECT_EQ(judge(rows(1.0, 2.4, 2.0), kLossTolerance).text, "holds");
}

TEST(Verdict, WithoutSeparatedPairsTheSizeDecides) {
  const auto pair = [](double a, double b) {
    return judge({{"a", {1.0, 0.5}, a}, {"b", {1.2, 0.5}, b}}, kLossTolerance).text;
  };
  EXPECT_EQ(pair(1.5, 0.9), "holds");
  EXPECT_EQ(pair(3.5, 4.0), "does not hold");
}

TEST(ComparedQuantity, HasRatioOrDifferenceRanksAndVerdict) {
  ComparedQuantity ratio("norm", "norm", kLossTolerance);
  ComparedQuantity distance("angle", "angle", kAngleTolerance);
  Table table{.id = "made-up", .title = "Made up"};
  for (const auto& [label, paper, ours] : {std::tuple{"a", 1.0, 1.5}, std::tuple{"b", 0.2, 0.3}}) {
    Row& row = table.rows.emplace_back(Row{.label = label});
    ratio.add_row(label, {paper, {}}, {ours, ours}, row);
    distance.add_row(label, {paper, {}}, {}, row);
  }
  conclude({ratio}, table);
  EXPECT_EQ(table.verdict->text, "holds");
  EXPECT_EQ(number(table.rows[0], "norm_compared"), 1.5);
  EXPECT_EQ(rank(table.rows[0], "norm_rank"), 2);
  EXPECT_EQ(rank(table.rows[1], "paper_norm_rank"), 1);
  conclude({ratio, distance}, table);
  EXPECT_EQ(table.verdict->text, "not run");
  EXPECT_TRUE(absent(table.rows[0], "angle_rank"));
}

TEST(Verdict, PartlyRunUntilEveryRowIsThere) {
  EXPECT_EQ(judge(rows(std::nullopt, std::nullopt, std::nullopt), kLossTolerance).text, "not run");
  const Verdict verdict = judge(rows(1.0, std::nullopt, 2.0), kLossTolerance);
  EXPECT_EQ(verdict.text, "partly run");
  EXPECT_NE(verdict.reason.find("of the others, the one pair"), std::string::npos)
      << verdict.reason;
}

TEST(Verdict, WithoutASpreadFivePerCentCount) {
  const auto pair = [](double a, double b) {
    return judge({{"a", {1.00, {}}, a}, {"b", {1.09, {}}, b}}, kLossTolerance).text;
  };
  EXPECT_EQ(pair(1.1, 1.0), "holds");  // 0.09 < 0.05 + 0.0545: not separated
  EXPECT_EQ(judge({{"a", {1.0, {}}, 1.1}, {"b", {1.2, {}}, 1.0}}, kLossTolerance).text,
            "does not hold");
}

TEST(Verdict, DistancesInTheReflectionProbe) {
  const auto alignment = [](double a, double b) {
    return judge({{"10", {-0.9, {}}, a}, {"500", {0.9, {}}, b}}, kAlignmentTolerance).text;
  };
  EXPECT_EQ(alignment(-0.8, 1.0), "holds");
  EXPECT_EQ(alignment(-0.5, 0.9), "holds in order but not in size");
  EXPECT_EQ(alignment(0.9, -0.9), "does not hold");
}

TEST(Verdict, TheLessFavourableOfTwo) {
  EXPECT_EQ(both({"holds", "x"}, {"does not hold", "y"}).text, "does not hold");
  EXPECT_EQ(both({"not run", "x"}, {"holds", "y"}).text, "not run");
}

TEST(ResultCells, SampleStandardDeviationAndRanks) {
  EXPECT_TRUE(std::holds_alternative<Absent>(mean_cell({})));
  const Mean mean = std::get<Mean>(mean_cell({1, 2, 3}));
  EXPECT_EQ(mean.mean, 2);
  EXPECT_EQ(mean.std, 1);
  EXPECT_EQ(mean.n, 3u);
  EXPECT_FALSE(std::get<Mean>(mean_cell({1})).std);
  const auto order = ranks({3.0, std::nullopt, 1.0});
  EXPECT_EQ(std::get<Rank>(order[0]).value, 2);
  EXPECT_TRUE(std::holds_alternative<Absent>(order[1]));
  EXPECT_EQ(std::get<Rank>(order[2]).value, 1);
}

TEST(ResultFigures, CurvesAreThinnedAndKeepTheirEnds) {
  Curve curve;
  for (int i = 0; i < 1234; ++i) {
    curve.x.push_back(i);
    curve.y.push_back(2 * i);
  }
  const Curve few = thinned(curve);
  EXPECT_EQ(few.x.size(), kMostPoints);
  EXPECT_EQ(few.x.front(), 0);
  EXPECT_EQ(few.y.back(), 2 * 1233);
  EXPECT_TRUE(few.low.empty());
}

TEST(ResultFigures, SmoothRegularisersHaveNoSlopeAtOneHalf) {
  const Figure figure = regulariser_figure();
  const std::vector<Series>& slopes = figure.panels[1].series;
  ASSERT_EQ(slopes.size(), 4u);
  const size_t middle = slopes[0].x.size() / 2;
  EXPECT_NEAR(slopes[0].x[middle], 0.5, 1e-12);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(slopes[i].y[middle], 0, 1e-9);
  EXPECT_NEAR(figure.panels[0].series[0].y[middle], 1, 1e-9);
}

// A suite folder with made-up results of all runs of a table: `loss` for each of its rows.
// They were made on the `machines` by turns.
void fake_runs(const SuiteFolder& folder, const SuiteManifest& manifest,
               const std::vector<double>& losses,
               const std::vector<nlohmann::json>& machines = {{{"cpu", "test"}}}) {
  folder.write_manifest(manifest);
  size_t i = 0;
  for (const Step& step : plan_steps(folder, manifest)) {
    const train::RunFolder run(step.training()->folder);
    run.create(step.training()->config);
    const double loss = losses[i % losses.size()];
    const nlohmann::json& machine = machines[i++ % machines.size()];
    const std::string sum = test::fake_metrics(
        run, {{{"iteration", 0}, {"val_loss", 1.0}},
              {{"iteration", 10}, {"gradient_norm", 0.5}, {"gamma", {0.1, 0.9}}}});
    test::fake_result(run,
                      {{"best_val_loss", loss / 2},
                       {"final_val_loss", loss},
                       {"parameters", 7},
                       {"seconds", 3},
                       {"machine", machine}},
                      sum);
  }
}

TEST(Results, TablesCompareWithThePaper) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  fake_runs(folder, {"quick", {1, 2}, 1, {"main-stability"}}, {16e-6, 15e-6, 8e-3, 8e-6, 4e-6});
  const Results results = collect_results(temporary.path());
  ASSERT_EQ(results.experiments.size(), 1u);
  const ExperimentResult& experiment = results.experiments[0];
  EXPECT_EQ(experiment.runs.done, 10);
  EXPECT_EQ(experiment.runs.seconds, 30);
  ASSERT_EQ(experiment.tables.size(), 1u);
  const Table& table = experiment.tables[0];
  EXPECT_EQ(table.verdict->text, "holds") << table.verdict->reason;
  const Row& edelta = table.rows[4];
  EXPECT_EQ(edelta.sees_future, true);
  EXPECT_EQ(table.rows[0].sees_future, false);
  EXPECT_EQ(rank(edelta, "rank"), 1);
  EXPECT_NEAR(number(edelta, "ratio"), 4 / 4.35, 1e-9);
  EXPECT_NEAR(std::get<Mean>(edelta.cell("best")).mean, 2e-6, 1e-12);
  EXPECT_EQ(std::get<Mean>(edelta.cell("final")).n, 2u);
  EXPECT_FALSE(experiment.figures.empty());
  EXPECT_EQ(results.machine.cpu, "test");
}

// Runs may be copied from other machines, or made by the nodes of a cluster.
TEST(Results, AllMachinesOfTheRunsAreNamed) {
  const test::TemporaryFolder temporary;
  fake_runs(SuiteFolder(temporary.path()), {"quick", {1}, 1, {"main-stability"}}, {1e-6},
            {{{"cpu", "test"}, {"edelta", "0.1.0"}, {"threads", 2}},
             {{"cpu", "another"}, {"simd", "AVX2"}, {"threads", 1}}});
  const Results results = collect_results(temporary.path());
  EXPECT_EQ(results.version, "0.1.0");
  const MachineSummary& machine = results.machine;
  EXPECT_EQ(machine.cpu, "another and test");
  EXPECT_EQ(machine.isa, "AVX2");  // of the other it is not known
  EXPECT_EQ(machine.blas, "");
  EXPECT_EQ(machine.threads, (std::vector<int64_t>{1, 2}));
  const Results read = results_from_json(to_json(results));
  EXPECT_EQ(read.machine.threads, machine.threads);
}

// A study's table; its first run has logged this alone.
Table table_with_log(const std::vector<nlohmann::ordered_json>& log) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  const SuiteManifest manifest{"quick", {1}, 1, {"factorisation-gyroscope"}};
  fake_runs(folder, manifest, {1e-3});
  const train::RunFolder first(plan_steps(folder, manifest).front().training()->folder);
  std::filesystem::remove(first.metrics_file());
  test::fake_result(first,
                    {{"best_val_loss", 5e-4},
                     {"final_val_loss", 1e-3},
                     {"parameters", 7},
                     {"machine", {{"cpu", "test"}}}},
                    test::fake_metrics(first, log));
  return collect_results(temporary.path()).experiments[0].tables[0];
}

// Runs of 0.1.0 were kept without their metrics.
TEST(Results, WithoutMetricsNothingIsSaidOfPlateauAndTrainingLoss) {
  const Table table = table_with_log({{{"iteration", 0}}});
  EXPECT_TRUE(std::holds_alternative<Absent>(table.rows[0].cell("plateau")));
  EXPECT_TRUE(std::holds_alternative<Absent>(table.rows[0].cell("training")));
  EXPECT_NEAR(std::get<Mean>(table.rows[0].cell("final")).mean, 1e-3, 1e-12);
  EXPECT_EQ(std::get<std::string>(table.rows[1].cell("plateau")), "never");
}

// Of the batches that the last tenth of the iterations logged, not of earlier ones.
TEST(Results, TheTrainingLossIsThatOfTheEnd) {
  const Table table = table_with_log({{{"iteration", 1800}, {"train_loss", 1.0}},
                                      {{"iteration", 1810}, {"train_loss", 3e-4}},
                                      {{"iteration", 2000}, {"train_loss", 1e-4}}});
  EXPECT_NEAR(std::get<Mean>(table.rows[0].cell("training")).mean, 2e-4, 1e-12);
}

TEST(Results, SmallModelsPassNoVerdict) {
  const test::TemporaryFolder temporary;
  fake_runs(SuiteFolder(temporary.path()), {"smoke", {1}, 1, {"main-stability"}}, {1e-6});
  const Table table = collect_results(temporary.path()).experiments[0].tables[0];
  EXPECT_EQ(table.verdict->text, "not compared");
}

TEST(Results, WhatHasNotBeenRunIsSaid) {
  const test::TemporaryFolder temporary;
  SuiteFolder(temporary.path()).write_manifest({"quick", {42}, 1, {"all"}});
  const Results results = collect_results(temporary.path());
  EXPECT_EQ(results.experiments.size(), experiments().size());
  for (const ExperimentResult& experiment : results.experiments) {
    for (const Table& table : experiment.tables) {
      EXPECT_TRUE(!table.verdict || table.verdict->text == "not run") << table.id;
    }
  }
  EXPECT_FALSE(results.protocol->changes.empty());
}

// The texts are about this suite, not about the largest one.
TEST(Results, TextsFitWhatIsRun) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  fake_runs(folder, {"demo", {42}, 1, {"main-stability"}}, {1e-6});
  folder.write_manifest({"demo", {42}, 1, {"reflection", "main-stability"}});
  const Results results = collect_results(temporary.path());
  const ExperimentResult& race = results.experiments[0];
  EXPECT_NE(race.method.find("gpt, ddl, mhc, jpmhc and edelta on stability"), std::string::npos);
  EXPECT_NE(race.method.find("with seed 42 (preset demo)"), std::string::npos) << race.method;
  EXPECT_NE(race.figures[0].caption.find("one run each"), std::string::npos);
  const ExperimentResult& reflection = results.experiments[1];
  EXPECT_NE(reflection.method.find("ddl, hybrid and jpmhc on 10, 100 and 500 samples"),
            std::string::npos)
      << reflection.method;
  EXPECT_EQ(reflection.tables[0].rows.size(), 3u);
  EXPECT_NE(reflection.tables[0].note.find("25, 50 and 200 samples"), std::string::npos);
}

// What is written is read back as it was.
TEST(Results, JsonRoundTrip) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  fake_runs(folder, {"quick", {1, 2}, 1, {"main", "gate-init"}}, {16e-6, 15e-6, 8e-3, 8e-6, 4e-6});
  Results results = collect_results(temporary.path());
  results.experiments[0].figures[0].panels[0].series[0].y[0] = NAN;
  const nlohmann::ordered_json json = to_json(results);
  EXPECT_EQ(json["format"], "edelta-results-1");
  const std::string text = json.dump(2);
  const Results read = results_from_json(nlohmann::ordered_json::parse(text));
  EXPECT_EQ(to_json(read).dump(2), text);
}

// A measurement, or a result, that is no more what was written.
TEST(Results, DamagedFilesAreNamedWithTheKey) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  folder.write_manifest({"smoke", {42}, 1, {"theorems", "configs", "reflection", "efficiency"}});
  base::make_folder(temporary.path() / "measurements");
  const auto expect_refused = [&](const std::string& name, const nlohmann::ordered_json& json,
                                  const std::string& key) {
    base::write_json(folder.measurement(name), json);
    test::expect_error<InputError>([&] { collect_results(temporary.path()); }, name + ".json", key);
    std::filesystem::remove(folder.measurement(name));
  };
  expect_refused("theorems", {{"samples", 1}, {"seed", 1}, {"n", {2}}}, "rows is missing");
  expect_refused("theorems", {{"samples", "x"}, {"seed", 1}, {"n", {2}}}, "samples");
  expect_refused("theorems", nlohmann::ordered_json::array(), "samples");
  expect_refused("configs", {{{"model", "gpt"}}}, "n_layer");
  expect_refused("configs", {{"model", "gpt"}}, "list");
  expect_refused("reflection-ddl-seed42", {{"runs", 1}}, "runs");
  expect_refused(
      "reflection-ddl-seed42",
      {{"runs",
        {{{"operator", "ddl"},
          {"samples", 10},
          {"seed", 42},
          {"trajectory", {{"iteration", {0, 1}}, {"alignment", {0.5}}, {"loss", {1, 1}}}}}}}},
      "alignment");
  expect_refused("efficiency",
                 {{"batch", 2}, {"length", 32}, {"gemm_gflops", 1}, {"results", {{{"tokens", 1}}}}},
                 "fused");
  fake_runs(folder, {"smoke", {42}, 1, {"main-stability"}}, {1e-6});
  const Step step = plan_steps(folder, folder.read_manifest()).front();
  test::fake_result(train::RunFolder(step.training()->folder),
                    {{"best_val_loss", 1}, {"final_val_loss", "low"}}, "");
  test::expect_error<InputError>([&] { collect_results(temporary.path()); }, step.name,
                                 "final_val_loss");
}

TEST(Results, AFolderWithoutASuiteIsRefused) {
  const test::TemporaryFolder temporary;
  test::expect_error<InputError>([&] { collect_results(temporary.path()); }, "suite.json");
}

}  // namespace
}  // namespace edelta::reproduce
