#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/atomic_file.h"
#include "base/json.h"
#include "edelta/base/error.h"
#include "edelta/probes/reflection.h"
#include "edelta/train/run_folder.h"
#include "expect_error.h"
#include "reproduce/collect.h"
#include "reproduce/experiments/comparison_verdict.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/measure.h"
#include "reproduce/plan.h"
#include "reproduce/step_status.h"
#include "reproduce/suite_lock.h"
#include "temporary_folder.h"

namespace edelta::reproduce {
namespace {

const Experiment& find(const std::string& name) {
  for (const Experiment& experiment : experiments()) {
    if (experiment.name == name) return experiment;
  }
  throw InputError(name);
}

const TrainingTable& table(const std::string& name, const std::string& id) {
  for (const TrainingTable& each : find(name).trainings) {
    if (each.id == id) return each;
  }
  throw InputError(id);
}

// The losses in the table's unit, with standard deviations where the paper has them.
std::vector<std::pair<double, double>> paper(const TrainingTable& table) {
  std::vector<std::pair<double, double>> values;
  for (const Variant& variant : table.variants) {
    values.emplace_back(variant.paper->mean / table.scale,
                        variant.paper->std.value_or(0) / table.scale);
  }
  return values;
}

using Values = std::vector<std::pair<double, double>>;

void expect_paper(const std::string& name, const std::string& id, const Values& expected) {
  const Values values = paper(table(name, id));
  ASSERT_EQ(values.size(), expected.size()) << id;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i].first, expected[i].first, 1e-9 * expected[i].first) << id << " " << i;
    EXPECT_NEAR(values[i].second, expected[i].second, 1e-9) << id << " " << i;
  }
}

TEST(Suite, HasTheExperimentsByName) {
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments()) names.push_back(experiment.name);
  EXPECT_EQ(
      names,
      (std::vector<std::string>{
          "theorems",     "configs",       "main",          "near-pi",       "norms",
          "gate-init",    "reflection",    "lambda",        "width",         "efficiency",
          "baselines",    "gain",          "factorisation", "learning-rate", "weight-decay",
          "training-set", "reversal",      "causal",        "blend",         "projection-init",
          "streams",      "edelta-stream", "depth",         "language",      "puzzles"}));
}

TEST(Suite, TrainsWithMoreAndFewerSequences) {
  const test::TemporaryFolder temporary;
  std::vector<std::string> names;
  for (const Step& step : plan_steps(
           SuiteFolder(temporary.path()),
           {.preset = "paper", .seeds = {42}, .threads = 1, .names = {"training-set-stability"}})) {
    names.push_back(step.name);
    if (step.name == "stability-gpt-train=7200-seed42") {
      EXPECT_EQ(step.training()->config.task->train, 7200);
      EXPECT_EQ(step.training()->config.task->val, 100);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "stability-gpt-train=113-seed42", "stability-gpt-seed42",
                       "stability-gpt-train=7200-seed42", "stability-edelta-train=113-seed42",
                       "stability-edelta-seed42", "stability-edelta-train=7200-seed42",
                       "stability-edelta-branch=none-train=113-seed42",
                       "stability-edelta-branch=none-seed42",
                       "stability-edelta-branch=none-train=7200-seed42"}));
}

TEST(Suite, TrainsNearPiWithThePublishedNumberOfSequences) {
  const test::TemporaryFolder temporary;
  std::vector<int64_t> published;
  for (const Step& step :
       plan_steps(SuiteFolder(temporary.path()), {.preset = "paper",
                                                  .seeds = {42},
                                                  .threads = 1,
                                                  .names = {"training-set-near-pi-multi"},
                                                  .only = {"*-train=1000-*"}})) {
    published.push_back(step.training()->config.task->train);
  }
  EXPECT_EQ(published, std::vector<int64_t>(6, 1000));
}

TEST(Suite, HasThePapersLosses) {
  expect_paper("main", "main-gyroscope",
               {{3.78, 0.04}, {3.36, 0.13}, {4.02, 0.03}, {0.308, 0.020}, {1.02, 0.26}});
  expect_paper("main", "main-stability",
               {{16.4, 0.7}, {15.3, 1.8}, {8650, 140}, {8.19, 3.69}, {4.35, 0.27}});
  expect_paper("near-pi", "near-pi-single",
               {{11.90, 0.01}, {11.1, 0.4}, {9640, 335}, {6.54, 1.16}, {1.44, 0.30}});
  expect_paper("near-pi", "near-pi-multi",
               {{3.34, 0.01}, {3.75, 0.10}, {1630, 130}, {1.69, 0.10}, {1.24, 0.37}});
  expect_paper("gate-init", "gate-init-single", {{2.15, 0.53}, {2.81, 1.02}, {2.52, 0.33}});
  expect_paper("gate-init", "gate-init-multi", {{1.22, 0.13}, {1.36, 0.40}, {0.686, 0.108}});
  expect_paper("lambda", "lambda-gyroscope", {{8.2, 0}, {6.1, 0}, {5.69, 0}, {5.8, 0}});
  expect_paper("width", "width-gyroscope", {{3.97, 0}, {4.01, 0}, {1.02, 0}});
}

// In the tables of a suite in which only the parameters have been counted.
TEST(Suite, HasThePapersOtherNumbers) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  folder.write_manifest({"paper", {42}, 1, {"norms", "configs", "reflection"}});
  base::make_folder(temporary.path() / "measurements");
  base::write_json(folder.measurement("configs"), measure(CountParameters{}));
  std::map<std::string, std::vector<double>> found;
  for (const ExperimentResult& experiment : collect_results(temporary.path()).experiments) {
    for (const Table& table : experiment.tables) {
      for (const Row& row : table.rows) {
        for (const auto& [key, cell] : row.cells) {
          if (const auto* paper = std::get_if<PaperValue>(&cell)) {
            found[table.id + "/" + key].push_back(paper->mean);
          } else if (table.id == "configs" && key == "paper") {
            found["configs/paper"].push_back(std::get<double>(cell));
          }
        }
      }
    }
  }
  const std::map<std::string, std::vector<double>> expected{
      {"norms/paper_norm_deviation", {0.474, 0.506, 0.543, 0.004, 0.001}},
      {"norms/paper_last_norm", {0.55, 0.50, 0.45, 1.00, 1.00}},
      {"configs/paper", {1780224, 1783568, 1838310, 1770912, 1787688}},
      {"reflection-ddl/paper_beta", {1.40, 1.58, 1.88, 1.95, 1.98, 1.995}},
      {"reflection-ddl/paper_alignment", {-0.98, -0.85, -0.80, -0.16, 0.61, 0.96}},
      {"reflection-jpmhc/paper_alignment", {-0.96, -0.94, -0.91, -0.85, -0.68, -0.25}},
      {"reflection-hybrid/paper_gamma", {0.235, 0.255, 0.171, 0.192, 0.281, 0.051}},
      {"reflection-hybrid/paper_alignment", {-1.00, -0.98, -0.38, -0.92, -0.35, 0.960}}};
  EXPECT_EQ(found, expected);
}

TEST(Suite, SelectsByNameAndByTable) {
  EXPECT_EQ(select_experiments({"all"}).size(), experiments().size());
  const auto chosen = select_experiments({"reflection", "main-stability"});
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].name, "main");
  ASSERT_EQ(chosen[0].trainings.size(), 1u);
  EXPECT_EQ(chosen[0].trainings[0].id, "main-stability");
  test::expect_error<InputError>([] { select_experiments({"mian"}); }, "near-pi");
  test::expect_error<InputError>([] { suite_preset("slow"); }, "quick");
}

std::set<std::string> trainings(const std::vector<std::string>& names,
                                const std::vector<uint64_t>& seeds) {
  std::set<std::string> found;
  for (const Step& step : plan_steps(SuiteFolder("x"), {"paper", seeds, 1, names})) {
    if (step.training()) found.insert(step.name);
  }
  return found;
}

TEST(RunPlan, SharesRunsBetweenExperiments) {
  EXPECT_EQ(trainings({"main"}, {42}).size(), 10u);
  EXPECT_EQ(trainings({"main", "norms"}, {42}).size(), 10u + 1);
  // λ = 0.1 and D 128 with 6 layers are the main table's model.
  EXPECT_EQ(trainings({"main", "lambda", "width"}, {42}).size(), 10u + 3 + 2);
  // At one number of parameters the model without a mixer is the one of that width.
  EXPECT_EQ(trainings({"puzzles"}, {42}).size(), 3 * (6u + 4));
  // The sizes of the training set that the main table has are its runs, and a seed shares nothing
  // with another.
  EXPECT_EQ(trainings({"main-stability", "training-set-stability"}, {42}).size(), 5u + 2 * 3 + 1);
  EXPECT_EQ(trainings({"all"}, {42, 123, 456}).size(), 3 * trainings({"all"}, {42}).size());
}

TEST(RunPlan, NamesSayWhatDiffers) {
  const auto names = trainings({"all"}, {42});
  for (const char* name :
       {"gyroscope-gpt-seed42", "near-pi-edelta-init_gate_bias=-1.5-gate_reg_weight=0.5-seed42",
        "stability-edelta-pool=prefix-seed42", "gyroscope-edelta-n_layer=3-n_embd=184-seed42",
        "sudoku4-trm-seed42", "maze-trm-mlp_t=false-mixer_type=jpmhc-seed42"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

// Presets have rates of their own, and none of them may take the place of one that is named.
TEST(RunPlan, LearningRatesAreThoseThatAreNamed) {
  for (const char* preset : {"paper", "quick", "smoke", "demo"}) {
    std::set<std::pair<double, double>> rates;
    for (const Step& step :
         plan_steps(SuiteFolder("x"), {preset, {42}, 1, {"learning-rate-stability"}})) {
      if (!step.training()) continue;
      const auto& protocol = step.training()->config.train;
      rates.emplace(protocol.lr, protocol.min_lr);
    }
    EXPECT_EQ(rates, (std::set<std::pair<double, double>>{
                         {1e-3, 1e-4}, {3e-4, 3e-5}, {3e-3, 3e-4}, {1e-3, 1e-5}}))
        << preset;
  }
}

TEST(RunPlan, KeepsWhatIsNamedWithWhatBelongsToIt) {
  const auto chosen = [](const std::vector<std::string>& only) {
    SuiteManifest manifest{"paper", {42}, 1, {"norms", "gain-gyroscope"}};
    manifest.only = only;
    std::vector<std::string> names;
    for (const Step& step : plan_steps(SuiteFolder("x"), manifest)) names.push_back(step.name);
    return names;
  };
  using Names = std::vector<std::string>;
  // A run comes with what is measured of it, a measurement with its run.
  EXPECT_EQ(chosen({"gyroscope-edelta-branch=c*y-seed42"}),
            (Names{"gyroscope-edelta-branch=cayley-seed42",
                   "operators-gyroscope-edelta-branch=cayley-seed42"}));
  EXPECT_EQ(
      chosen({"norms-*-gpt-*", "*=none-seed42"}),
      (Names{"stability-gpt-seed42", "norms-stability-gpt-seed42",
             "stability-edelta-branch=none-seed42", "norms-stability-edelta-branch=none-seed42",
             "gyroscope-edelta-branch=none-seed42",
             "gyroscope-edelta-projections=off-branch=none-seed42"}));
  test::expect_error<InputError>([&] { chosen({"*", "gyroscope"}); }, "--only gyroscope:");
}

TEST(RunPlan, EveryStepIsPlannedOnceAndAfterWhatItNeeds) {
  std::set<std::string> seen;
  bool exclusive = false;
  for (const Step& step : plan_steps(SuiteFolder("x"), {"smoke", {42, 7}, 1, {"all"}})) {
    EXPECT_TRUE(seen.insert(step.name).second) << step.name;
    EXPECT_TRUE(step.after.empty() || seen.contains(step.after)) << step.name;
    EXPECT_FALSE(step.training() ? step.training()->folder.empty()
                                 : step.measurement()->file.empty())
        << step.name;
    EXPECT_TRUE(step.exclusive || !exclusive) << step.name;
    exclusive = step.exclusive;
  }
  EXPECT_TRUE(exclusive);
}

TEST(RunPlan, MeasurementsAreThePresets) {
  int64_t reflections = 0, depths = 0;
  for (const Step& step : plan_steps(SuiteFolder("x"), {"smoke", {7}, 1, {"all"}})) {
    if (step.training()) continue;
    const Request& request = step.measurement()->request;
    if (const auto* theorems = std::get_if<verify::TheoremOptions>(&request)) {
      EXPECT_EQ(theorems->samples, 20);
      EXPECT_EQ(theorems->sizes, (std::vector<int64_t>{2, 4, 8}));
    } else if (const auto* reflection = std::get_if<probes::ReflectionProbeOptions>(&request)) {
      EXPECT_EQ(reflection->operators.size(), 1u);
      EXPECT_EQ(reflection->seeds, std::vector<uint64_t>{7});
      EXPECT_EQ(reflection->iterations, 40);
      ++reflections;
    } else if (const auto* depth = std::get_if<probes::DepthProbeOptions>(&request)) {
      EXPECT_EQ(depth->models.size(), 1u);
      EXPECT_EQ(depth->seed, 7u);
      EXPECT_EQ(depth->layers, (std::vector<int64_t>{2, 8}));
      EXPECT_EQ(depth->iterations, 4);
      ++depths;
    } else if (const auto* timing = std::get_if<bench::BenchOptions>(&request)) {
      EXPECT_EQ(timing->batch, 2);
      EXPECT_FALSE(timing->compare);
    } else if (const auto* norms = std::get_if<ProbeNorms>(&request)) {
      EXPECT_EQ(norms->run, SuiteFolder("x").run(step.after));
    }
  }
  EXPECT_EQ(reflections, static_cast<int64_t>(probes::reflection_operator_names().size()));
  EXPECT_EQ(depths, 9);
}

TEST(Runner, ManifestGrowsAndKeepsItsPreset) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  const SuiteManifest first = merged_manifest(folder, "smoke", {"configs"}, {}, 2);
  EXPECT_EQ(first.seeds, std::vector<uint64_t>{42});
  folder.write_manifest(first);
  const SuiteManifest second = merged_manifest(folder, "smoke", {"main", "configs"}, {7}, 1);
  EXPECT_EQ(second.seeds, (std::vector<uint64_t>{42, 7}));
  EXPECT_EQ(second.names, (std::vector<std::string>{"configs", "main"}));
  EXPECT_EQ(second.threads, 2);
  test::expect_error<InputError>([&] { merged_manifest(folder, "quick", {"main"}, {}, 1); },
                                 "smoke");
}

TEST(Runner, RefusesARunOfAnotherConfiguration) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  const SuiteManifest manifest{"smoke", {42}, 1, {"main-stability"}};
  for (const PlannedStep& each : inspect_steps(folder, manifest)) {
    EXPECT_EQ(each.status, StepStatus::to_do);
    EXPECT_GT(each.seconds, 0);
  }
  const Step step = plan_steps(folder, manifest).front();
  Training training = *step.training();
  const train::RunFolder run(training.folder);
  run.create(training.config);
  EXPECT_EQ(inspect_steps(folder, manifest).front().status, StepStatus::partly_done);
  std::filesystem::remove(run.config_file());
  training.config.train.iterations += 1;
  run.create(training.config);
  test::expect_error<InputError>([&] { inspect_steps(folder, manifest); }, "iterations");
}

TEST(Runner, OneAtATime) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  {
    const SuiteLock lock(folder);
    test::expect_error<InputError>([&] { SuiteLock second(folder); }, "at work");
  }
  EXPECT_NO_THROW(SuiteLock again(folder));
}

TEST(ComparisonVerdict, SaysWhatIsToldApart) {
  const ComparedRoles roles{"gpt", {{"edelta", "control"}}};
  const auto verdict = [&](double hybrid, double std) {
    return comparison_verdict({{"gpt", {1.5, 0.01, 3}},
                               {"jpmhc", {1.4, 0.01, 3}},
                               {"ddl", {1.6, 0.01, 3}},
                               {"edelta", {hybrid, std, 3}},
                               {"control", {1.505, 0.01, 3}}},
                              roles, "here");
  };
  const std::string same = verdict(1.51, 0.01);
  for (const char* part :
       {"jpmhc (−0.100) end with a lower loss", "ddl (+0.100) with a higher one",
        "not told apart from it: edelta (+0.010) and control (+0.005)",
        "edelta ends at 1.510, the same model without its operator at 1.505",
        "here, the operator makes no difference that these seeds show", "over 3 seeds"}) {
    EXPECT_NE(same.find(part), std::string::npos) << part << " in: " << same;
  }
  EXPECT_NE(verdict(1.45, 0.01).find("the operator helps"), std::string::npos);
  EXPECT_NE(verdict(1.55, 0.01).find("the operator harms"), std::string::npos);
  EXPECT_NE(verdict(1.45, 0.1).find("makes no difference"), std::string::npos);
  EXPECT_NE(comparison_verdict({{"gpt", {1.5, 0, 1}}}, roles, "here").find("two seeds"),
            std::string::npos);
}

}  // namespace
}  // namespace edelta::reproduce
