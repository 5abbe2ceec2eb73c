#include "edelta/train/run_folder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/train/trainer.h"
#include "expect_error.h"
#include "temporary_folder.h"
#include "train/run_lock.h"

namespace edelta::train {
namespace {

TEST(RunFolder, TakesOneRunOnly) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder.path() / "run");
  EXPECT_THROW(run.read_config(), InputError);
  const TrainConfig config = train_config_from_json(
      {{"preset", "smoke"}, {"task", "stability"}, {"train", {{"seed", 9}}}}, "test");
  run.create(config);
  EXPECT_EQ(to_json(run.read_config()), to_json(config));
  EXPECT_FALSE(run.finished());
  EXPECT_THROW(run.create(config), InputError);
  TrainConfig other = config;
  other.train.seed = 10;
  run.create(other, /*replace=*/true);
  EXPECT_EQ(run.read_config().train.seed, 10u);
}

TEST(RunFolder, IsNotTrainedTwiceAtATime) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder.path() / "run");
  run.create(train_config_from_json({{"preset", "smoke"}, {"task", "stability"}}, "test"));
  const base::FileLock held = lock_run(run);
  test::expect_error<InputError>([&] { train(run); }, "another process trains it", "process");
}

TEST(RunFolder, IsExtendedWithItsHistory) {
  const test::TemporaryFolder folder;
  const TrainConfig config =
      train_config_from_json({{"preset", "smoke"},
                              {"task", "stability"},
                              {"model", {{"model", "gpt"}, {"n_embd", 8}}},
                              {"train", {{"iterations", 20}, {"eval_interval", 10}}}},
                             "test");
  const RunFolder held(folder.path() / "held"), stretched(folder.path() / "stretched");
  for (const RunFolder* run : {&held, &stretched}) {
    run->create(config);
    train(*run);
    EXPECT_THROW(run->extend(20, Extension::held), InputError);
    run->extend(30, run == &held ? Extension::held : Extension::stretched);
    EXPECT_FALSE(run->finished());
    EXPECT_EQ(train(*run).result["iterations"], 30);
    EXPECT_TRUE(run->finished());
    const nlohmann::ordered_json change = run->read_manifest().history.at(0);
    EXPECT_EQ(change["iteration"], 20);
    EXPECT_EQ(change["iterations"], (nlohmann::json{20, 30}));
  }
  const auto last_rate = [](const RunFolder& run, int64_t iteration) {
    for (const auto& entry : run.read_metrics()) {
      if (entry["iteration"] == iteration && entry.contains("lr")) return entry["lr"].get<double>();
    }
    return -1.0;
  };
  EXPECT_EQ(last_rate(held, 30), config.train.min_lr);
  EXPECT_GT(last_rate(stretched, 30), config.train.min_lr);

  // A run that had this schedule from the start is the same.
  TrainConfig whole = config;
  whole.train.iterations = 30;
  whole.train.decay_iterations = 20;
  const RunFolder once(folder.path() / "once");
  once.create(whole);
  EXPECT_EQ(train(once).result["final_val_loss"], held.read_result()["final_val_loss"]);
}

TEST(RunFolder, SaysWhenItIsContinuedWithOtherThreads) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder.path() / "run");
  run.create(train_config_from_json({{"preset", "smoke"},
                                     {"task", "stability"},
                                     {"model", {{"model", "gpt"}, {"n_embd", 8}}},
                                     {"train", {{"iterations", 20}}}},
                                    "test"));
  const int64_t before = base::threads();
  int64_t done = 0;
  train(run, {.on_step = [&](const StepReport& report) { done = report.iteration; },
              .stop_signal = [&] { return done == 10 ? 2 : 0; }});
  std::string said;
  base::set_threads(before + 1);
  train(run, {.on_notice = [&](const std::string& text) { said += text; }});
  base::set_threads(before);
  EXPECT_NE(said.find("threads"), std::string::npos) << said;
  EXPECT_EQ(run.read_manifest().history.at(0)["threads"], (nlohmann::json{before, before + 1}));
}

}  // namespace
}  // namespace edelta::train
