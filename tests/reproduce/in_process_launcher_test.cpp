#include "reproduce/in_process_launcher.h"

#include <gtest/gtest.h>

#include <csignal>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "base/json.h"
#include "edelta/base/machine.h"
#include "edelta/models/registry.h"
#include "edelta/train/run_folder.h"
#include "expect_error.h"
#include "reproduce/collect.h"
#include "reproduce/plan.h"
#include "reproduce/runner.h"
#include "reproduce/step_status.h"
#include "reproduce/suite_text.h"
#include "reproduce/write_samples.h"
#include "temporary_folder.h"

namespace edelta::reproduce {
namespace {

// A training of a few iterations, its run folder made.
Step small_training(const std::filesystem::path& folder) {
  Training training{train::train_config_from_json({{"preset", "smoke"},
                                                   {"train", {{"iterations", 4}, {"warmup", 1}}},
                                                   {"model", "gpt"},
                                                   {"task", "stability"}},
                                                  "test"),
                    folder};
  train::RunFolder(folder).create(training.config);
  return {.name = "small", .work = training};
}

std::string content(const std::filesystem::path& file) {
  return base::read_text(file, size_t{1} << 20);
}

TEST(InProcessLauncher, MeasuresWhatThePresetAsks) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  const SuiteManifest manifest{"smoke", {42}, 1, {"theorems", "configs"}};
  folder.write_manifest(manifest);
  const int64_t threads = base::threads();
  InProcessLauncher launcher;
  const RunnerOutcome outcome = run_steps(folder, manifest, launcher, {});
  EXPECT_TRUE(outcome.failures.empty());
  EXPECT_EQ(base::threads(), threads);
  const Results results = collect_results(folder.path());
  EXPECT_EQ(results.runs.done, 2);
  for (const ExperimentResult& experiment : results.experiments) {
    EXPECT_EQ(experiment.tables.front().verdict->text, "holds") << experiment.name;
  }
  EXPECT_EQ(results.experiments[1].tables[0].rows.size(), models::architectures().size());
}

TEST(InProcessLauncher, TrainsAndProbesTheRun) {
  const test::TemporaryFolder temporary;
  const Step training = small_training(temporary / "run");
  const Step norms{.name = "norms",
                   .work = Measurement{ProbeNorms{temporary / "run", {.positions = 8}},
                                       temporary / "norms.json"}};
  InProcessLauncher launcher;
  for (const Step& step : {training, norms}) {
    EXPECT_EQ(launcher.start(step, 1, temporary / "log.txt")->poll(), "done");
    EXPECT_EQ(status_of(step), StepStatus::done) << content(temporary / "log.txt");
  }
  EXPECT_EQ(train::RunFolder(temporary / "run").read_result()["iterations"], 4);
  const std::string file = (temporary / "norms.json").string();
  EXPECT_EQ(probes::norm_probe_from_json(base::read_json(file), file).mean_norm.size(), 8u);
}

TEST(InProcessLauncher, TrainsOnTheSuitesTextAndWritesSamples) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary / "suite");
  base::make_folder(folder.path());
  std::string text;
  for (int i = 0; i < 400; ++i) text += "ça va " + std::to_string(i) + "\n";
  base::write_text_atomically(temporary / "a.txt", text);
  base::write_text_atomically(temporary / "b.txt", text + "?");
  EXPECT_EQ(text_size(folder), "");
  prepare_text(folder, {temporary / "a.txt"});
  prepare_text(folder, {temporary / "a.txt"});
  test::expect_error<InputError>([&] { prepare_text(folder, {temporary / "b.txt"}); },
                                 "another text");
  EXPECT_EQ(text_size(folder), "0.0 MB, 15 different characters");

  const TrainingTable table{.id = "text", .title = "", .task = kText, .variants = {}};
  train::TrainConfig config =
      training_config(folder, suite_preset("smoke"), table, {.label = "gpt", .model = "gpt"}, 42);
  EXPECT_EQ(config.model.vocab_size, 15);
  EXPECT_EQ(run_name(config), "text-gpt-seed42");
  config.train.iterations = 2;
  config.train.warmup = 1;
  const Step training{.name = "run", .work = Training{config, temporary / "run"}};
  train::RunFolder(temporary / "run").create(config);
  const Step samples{
      .name = "samples",
      .work = Measurement{WriteSamples{.run = temporary / "run", .samples = 3, .tokens = 5},
                          temporary / "samples.json"}};
  for (const Step& step : {training, samples}) {
    EXPECT_EQ(InProcessLauncher().start(step, 1, temporary / "log.txt")->poll(), "done")
        << content(temporary / "log.txt");
  }
  const std::string file = (temporary / "samples.json").string();
  const auto texts = samples_from_json(base::read_json(file), file);
  EXPECT_EQ(texts.size(), 3u);
  for (const std::string& sample : texts) EXPECT_GE(sample.size(), 5u);
}

TEST(InProcessLauncher, StopsWithACheckpointAndContinues) {
  const test::TemporaryFolder temporary;
  const Step step = small_training(temporary / "run");
  InProcessLauncher stopping([] { return SIGTERM; });
  EXPECT_EQ(stopping.start(step, 1, temporary / "log.txt")->poll(), "stopped");
  EXPECT_EQ(status_of(step), StepStatus::partly_done);
  EXPECT_TRUE(std::filesystem::exists(train::RunFolder(temporary / "run").checkpoint_file()));
  EXPECT_EQ(InProcessLauncher().start(step, 1, temporary / "log.txt")->poll(), "done");
  EXPECT_EQ(status_of(step), StepStatus::done);
}

TEST(InProcessLauncher, AFailureIsInTheLog) {
  const test::TemporaryFolder temporary;
  const Step step{.name = "norms",
                  .work = Measurement{ProbeNorms{temporary / "none"}, temporary / "norms.json"}};
  EXPECT_EQ(InProcessLauncher().start(step, 1, temporary / "log.txt")->poll(), "failed");
  EXPECT_EQ(status_of(step), StepStatus::to_do);
  EXPECT_NE(content(temporary / "log.txt").find("no run is there"), std::string::npos);
}

// A whole suite with trainings, stopped at its first one, and continued to its end.
TEST(InProcessLauncher, RunsASuiteInTwoCalls) {
  const test::TemporaryFolder temporary;
  const SuiteFolder folder(temporary.path());
  const SuiteManifest manifest{"smoke", {42}, 1, {"configs", "blend-stability"}};
  folder.write_manifest(manifest);
  int asked = 0;
  const auto stop_signal = [&] { return ++asked > 10 ? SIGINT : 0; };
  InProcessLauncher launcher(stop_signal);
  const RunnerOutcome outcome = run_steps(folder, manifest, launcher, {.stop_signal = stop_signal});
  EXPECT_EQ(outcome.stopped_by, SIGINT);
  EXPECT_TRUE(outcome.failures.empty());
  std::vector<StepStatus> statuses;
  for (const PlannedStep& each : inspect_steps(folder, manifest)) statuses.push_back(each.status);
  EXPECT_EQ(statuses, (std::vector<StepStatus>{StepStatus::done, StepStatus::partly_done,
                                               StepStatus::to_do}));
  InProcessLauncher to_the_end;
  EXPECT_TRUE(run_steps(folder, manifest, to_the_end, {}).failures.empty());
  const Results results = collect_results(folder.path());
  EXPECT_EQ(results.runs.done, 3);
  for (const Row& row : results.experiments.back().tables.front().rows) {
    EXPECT_TRUE(std::holds_alternative<Mean>(row.cell("final"))) << row.label;
  }
}

}  // namespace
}  // namespace edelta::reproduce
