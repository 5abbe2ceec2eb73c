#include "edelta/experiments/results.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "edelta/error.h"
#include "edelta/experiments/run_plan.h"
#include "edelta/io/atomic_file.h"
#include "edelta/io/json.h"
#include "edelta/train/run_folder.h"
#include "expect_error.h"
#include "experiments/compared_quantity.h"
#include "experiments/result_cells.h"
#include "experiments/result_figures.h"
#include "experiments/verdict.h"
#include "temporary_folder.h"

namespace edelta::experiments {
namespace {

using nlohmann::json;

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
  Cell table{{"rows", Cell::array()}};
  for (const auto& [label, paper, ours] : {std::tuple{"a", 1.0, 1.5}, std::tuple{"b", 0.2, 0.3}}) {
    Cell cells;
    ratio.add_row(label, {paper, {}}, {ours, ours}, cells);
    distance.add_row(label, {paper, {}}, {}, cells);
    table["rows"].push_back({{"label", label}, {"cells", cells}});
  }
  conclude({ratio}, table);
  EXPECT_EQ(table["verdict"], "holds");
  EXPECT_EQ(table["rows"][0]["cells"]["norm_compared"]["value"], 1.5);
  EXPECT_EQ(table["rows"][0]["cells"]["norm_rank"]["value"], 2);
  EXPECT_EQ(table["rows"][1]["cells"]["paper_norm_rank"]["value"], 1);
  conclude({ratio, distance}, table);
  EXPECT_EQ(table["verdict"], "not run");
  EXPECT_TRUE(table["rows"][0]["cells"]["angle_rank"].is_null());
}

TEST(Verdict, NotRunUntilEveryRowIsThere) {
  const Verdict verdict = judge(rows(1.0, std::nullopt, 2.0), kLossTolerance);
  EXPECT_EQ(verdict.text, "not run");
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
  EXPECT_EQ(mean_cell({}), Cell());
  EXPECT_EQ(mean_cell({1, 2, 3}), (Cell{{"mean", 2.0}, {"std", 1.0}, {"n", 3}}));
  const auto order = ranks({3.0, std::nullopt, 1.0});
  EXPECT_EQ(order[0]["value"], 2);
  EXPECT_TRUE(order[1].is_null());
  EXPECT_EQ(order[2]["value"], 1);
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
  const Cell figure = regulariser_figure();
  const Cell& slopes = figure["panels"][1]["series"];
  ASSERT_EQ(slopes.size(), 4u);
  const size_t middle = slopes[0]["x"].size() / 2;
  EXPECT_NEAR(slopes[0]["x"][middle].get<double>(), 0.5, 1e-12);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(slopes[i]["y"][middle].get<double>(), 0, 1e-9);
  EXPECT_NEAR(figure["panels"][0]["series"][0]["y"][middle].get<double>(), 1, 1e-9);
}

// A suite folder with made-up results of all runs of a table: `loss` for each of its rows.
void fake_runs(const SuiteFolder& folder, const SuiteManifest& manifest,
               const std::vector<double>& losses) {
  folder.write_manifest(manifest);
  size_t i = 0;
  for (const Step& step : plan_steps(folder, manifest)) {
    const train::RunFolder run(folder.run(step.name));
    run.create(*step.training);
    const double loss = losses[i++ % losses.size()];
    io::write_text_atomically(run.metrics_file(),
                              "{\"iteration\":0,\"val_loss\":1.0}\n"
                              "{\"iteration\":10,\"gradient_norm\":0.5,\"gamma\":[0.1,0.9]}\n");
    io::write_json(run.result_file(), {{"best_val_loss", loss / 2},
                                       {"final_val_loss", loss},
                                       {"parameters", 7},
                                       {"seconds", 3},
                                       {"machine", {{"cpu", "test"}}}});
  }
}

TEST(Results, TablesCompareWithThePaper) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  fake_runs(folder, {"quick", {1, 2}, 1, {"main-stability"}}, {16e-6, 15e-6, 8e-3, 8e-6, 4e-6});
  const nlohmann::ordered_json results = collect_results(temporary.path());
  ASSERT_EQ(results["experiments"].size(), 1u);
  const auto& experiment = results["experiments"][0];
  EXPECT_EQ(experiment["runs"]["done"], 10);
  EXPECT_EQ(experiment["runs"]["seconds"], 30);
  ASSERT_EQ(experiment["tables"].size(), 1u);
  const auto& table = experiment["tables"][0];
  EXPECT_EQ(table["verdict"], "holds") << table["reason"];
  const auto& edelta = table["rows"][4];
  EXPECT_EQ(edelta["sees_future"], true);
  EXPECT_EQ(table["rows"][0]["sees_future"], false);
  EXPECT_EQ(edelta["cells"]["rank"]["value"], 1);
  EXPECT_NEAR(edelta["cells"]["ratio"]["value"].get<double>(), 4 / 4.35, 1e-9);
  EXPECT_NEAR(edelta["cells"]["best"]["mean"].get<double>(), 2e-6, 1e-12);
  EXPECT_EQ(edelta["cells"]["final"]["n"], 2);
  EXPECT_FALSE(experiment["figures"].empty());
}

TEST(Results, SmallModelsPassNoVerdict) {
  const test::TemporaryFolder temporary;
  fake_runs(SuiteFolder(temporary.path()), {"smoke", {1}, 1, {"main-stability"}}, {1e-6});
  const auto table = collect_results(temporary.path())["experiments"][0]["tables"][0];
  EXPECT_EQ(table["verdict"], "not compared");
}

TEST(Results, WhatHasNotBeenRunIsSaid) {
  const test::TemporaryFolder temporary;
  SuiteFolder(temporary.path()).write_manifest({"quick", {42}, 1, {"all"}});
  const nlohmann::ordered_json results = collect_results(temporary.path());
  EXPECT_EQ(results["experiments"].size(), experiments().size());
  for (const auto& experiment : results["experiments"]) {
    for (const auto& table : experiment["tables"]) {
      EXPECT_TRUE(table["verdict"].is_null() || table["verdict"] == "not run") << table["id"];
    }
  }
  EXPECT_FALSE(results["protocol"]["changes"].empty());
}

TEST(Results, AFolderWithoutASuiteIsRefused) {
  const test::TemporaryFolder temporary;
  test::expect_error<InputError>([&] { collect_results(temporary.path()); }, "suite.json");
}

}  // namespace
}  // namespace edelta::experiments
