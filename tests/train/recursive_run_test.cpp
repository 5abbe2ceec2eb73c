// Runs of recursive models on puzzles.
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "dist/rank_threads.h"
#include "edelta/base/error.h"
#include "edelta/train/puzzle_evaluation.h"
#include "edelta/train/trainer.h"
#include "expect_error.h"
#include "temporary_folder.h"
#include "train/metrics.h"
#include "train/puzzle_batches.h"

namespace edelta::train {
namespace {

using nlohmann::json;
using test::expect_error;

// A model that solves 4×4 Sudoku within seconds where the puzzles are few.
json tiny(int64_t iterations) {
  return {{"model",
           {{"model", "trm"},
            {"hidden_size", 32},
            {"num_heads", 2},
            {"width_multiple", 16},
            {"L_cycles", 1},
            {"halt_max_steps", 2}}},
          {"preset", "sudoku4"},
          {"train",
           {{"iterations", iterations},
            {"batch", 16},
            {"log_interval", 3},
            {"eval_interval", 10},
            {"checkpoint_interval", 4}}},
          {"puzzles", {{"train", 16}, {"test", 8}, {"views", 0}}}};
}

TEST(RecursiveRun, ContinuesBitForBitWhereItWasStopped) {
  const test::TemporaryFolder folder;
  const RunFolder whole(folder / "whole"), stopped(folder / "stopped");
  const TrainConfig config = train_config_from_json(tiny(14), "test");
  whole.create(config);
  stopped.create(config);
  const json result = train(whole).result;
  for (const int64_t at : {3, 6, 11}) {
    int64_t seen = 0;
    TrainOptions options;
    options.on_step = [&](const StepReport& report) { seen = report.iteration; };
    options.stop_signal = [&] { return seen == at ? SIGTERM : 0; };
    EXPECT_EQ(train(stopped, options).stopped_by, SIGTERM);
  }
  const json continued = train(stopped).result;
  EXPECT_EQ(continued["final_val_loss"], result["final_val_loss"]);
  EXPECT_EQ(continued["measures"], result["measures"]);
  const Checkpoint a = read_checkpoint(whole.checkpoint_file());
  const Checkpoint b = read_checkpoint(stopped.checkpoint_file());
  EXPECT_TRUE(a.tensors.contains("state/z_H"));
  EXPECT_TRUE(a.tensors.contains("optimiser/mean/lm_head.weight"));
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    EXPECT_TRUE(torch::equal(tensor, b.tensors.at(name))) << name;
  }
}

TEST(RecursiveRun, IsTheSameOnSeveralRanks) {
  const test::TemporaryFolder folder;
  const RunFolder alone(folder / "alone"), divided(folder / "divided");
  json given = tiny(12);
  given["model"].update({{"mixer_type", "edelta"}, {"puzzle_emb_ndim", 32}});
  const TrainConfig config = train_config_from_json(given, "test");
  alone.create(config);
  divided.create(config);
  const json one = train(alone).result;
  // By two ranks, then by four, then by one: each goes on with the rows that the others carried.
  for (const auto& [count, until] : {std::pair<int64_t, int64_t>{2, 5}, {4, 9}}) {
    test::on_ranks(count, [&, until = until](dist::Ranks& ranks) {
      TrainOptions options;
      int64_t seen = 0;
      options.ranks = &ranks;
      options.on_step = [&](const StepReport& report) { seen = report.iteration; };
      options.stop_signal = [&] { return seen == until ? SIGTERM : 0; };
      EXPECT_EQ(train(divided, options).stopped_by, SIGTERM);
    });
  }
  const json result = train(divided).result;
  EXPECT_NEAR(result["final_val_loss"].get<double>() / one["final_val_loss"].get<double>(), 1,
              1e-4);
  const auto lines = [](const RunFolder& run) { return read_metrics_file(run.metrics_file()); };
  const auto expected = lines(alone).entries, found = lines(divided).entries;
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    for (const char* key : {"train_loss", "gate_loss", "q_halt_loss", "gradient_norm", "halted"}) {
      if (!expected[i].contains(key)) continue;
      const double value = expected[i][key];
      EXPECT_NEAR(found[i][key].get<double>(), value, 1e-4 * std::abs(value)) << i << " " << key;
    }
  }
  const Checkpoint a = read_checkpoint(alone.checkpoint_file());
  const Checkpoint b = read_checkpoint(divided.checkpoint_file());
  for (const char* name : {"inputs", "labels", "steps", "halted", "puzzle_identifiers"}) {
    const std::string key = std::string("state/") + name;
    EXPECT_TRUE(torch::equal(a.tensors.at(key), b.tensors.at(key))) << name;
  }
  const torch::Tensor z = a.tensors.at("state/z_H");
  EXPECT_LT((b.tensors.at("state/z_H") - z).norm().item<double>(), 1e-3 * z.norm().item<double>());
}

TEST(RecursiveRun, LearnsItsPuzzles) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder / "run");
  json given = tiny(200);
  given["train"].update(
      {{"eval_interval", 200}, {"checkpoint_interval", 200}, {"lr", 3e-3}, {"log_interval", 10}});
  run.create(train_config_from_json(given, "test"));
  train(run);
  const auto model = load_recursive_run(run, Which::last);
  const data::PuzzleData puzzles = data::read_puzzle_data(run.puzzle_folder());
  const PuzzleEvaluation learnt = evaluate_puzzles(*model, puzzles.train);
  EXPECT_EQ(learnt.puzzles, 16);
  ASSERT_EQ(learnt.after.size(), 2U);
  EXPECT_GE(learnt.after.back().exact_accuracy, 0.75);
  EXPECT_GE(learnt.after.back().accuracy, learnt.after.back().exact_accuracy);
  models::RecursiveModel untaught(model->config(), 1);
  const PuzzleEvaluation before = evaluate_puzzles(untaught, puzzles.train);
  EXPECT_EQ(before.after.back().exact_accuracy, 0);
  EXPECT_LT(learnt.after.back().loss, before.after.back().loss / 4);
}

TEST(RecursiveRun, GoesOnFromAStartThatWasKilled) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder / "run");
  const TrainConfig config = train_config_from_json(tiny(3), "test");
  data::PuzzleTask other = *config.recursive->puzzles;
  ++other.seed;
  data::write_puzzles(run.puzzle_folder(), other);
  expect_error<InputError>([&] { run.create(config); }, "puzzles");  // perhaps somebody's own
  std::filesystem::remove_all(run.puzzle_folder());
  data::write_puzzles(run.puzzle_folder(), *config.recursive->puzzles);
  run.create(config);
  EXPECT_EQ(train(run).result["iterations"], 3);
}

TEST(RecursiveRun, ReplacesNoPuzzlesButItsOwn) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder / "run");
  json settings = tiny(3);
  const TrainConfig config = train_config_from_json(settings, "test");
  run.create(config);
  // Data that would go with the run.
  settings.erase("puzzles");
  settings["data"] = run.puzzle_folder().string();
  const TrainConfig inside = train_config_from_json(settings, "test");
  expect_error<InputError>([&] { run.create(inside, /*replace=*/true); }, "lies in the run");
  EXPECT_TRUE(data::is_puzzle_folder(run.puzzle_folder()));
  // Puzzles that cannot be made: the run that is there stays.
  TrainConfig impossible = config;
  impossible.recursive->puzzles->kind = data::PuzzleKind::maze;
  impossible.recursive->puzzles->size = 30;
  impossible.recursive->puzzles->train = 100'000'000;
  expect_error<InputError>([&] { run.create(impossible, /*replace=*/true); }, "memory");
  EXPECT_EQ(run.read_manifest().config.recursive->puzzles->train, config.recursive->puzzles->train);
  const RunFolder fresh(folder / "fresh");
  expect_error<InputError>([&] { fresh.create(impossible); }, "memory");
  EXPECT_FALSE(std::filesystem::exists(folder / "fresh"));
  // Other puzzles in their place.
  TrainConfig other = config;
  other.recursive->puzzles->seed += 1;
  const auto before = run.read_manifest().data_files;
  run.create(other, /*replace=*/true);
  EXPECT_NE(run.read_manifest().data_files, before);
  // What somebody put beside another run is not the run's to remove.
  std::filesystem::remove(run.config_file());
  expect_error<InputError>([&] { run.create(config, /*replace=*/true); }, "puzzles");
  EXPECT_TRUE(data::is_puzzle_folder(run.puzzle_folder()));
}

TEST(RecursiveRun, MakesPuzzlesThatAreMissingAgain) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder / "run");
  run.create(train_config_from_json(tiny(3), "test"));
  std::filesystem::remove_all(run.puzzle_folder());
  EXPECT_EQ(run_puzzle_folder(run, run.read_manifest()), run.puzzle_folder());
  std::filesystem::remove(run.puzzle_folder() / "test" / "all__labels.npy");
  expect_error<InputError>([&] { run_puzzle_folder(run, run.read_manifest()); },
                           "remove that folder");
}

TEST(RecursiveRun, RefusesWhatDoesNotFitIntoMemory) {
  json settings = tiny(3);
  settings["train"]["batch"] = 1'000'000'000;
  expect_error<InputError>([&] { require_memory(train_config_from_json(settings, "test"), 0); },
                           "1000000000 puzzles");
  // A large table of puzzles is there once.
  models::RecursiveConfig config = train_config_from_json(tiny(3), "test").recursive->model;
  config.num_puzzle_identifiers = 1000;
  EXPECT_LT(least_parameters(config), 1e6);
}

TEST(RecursiveRun, IsNoModelOfSequences) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder / "run");
  run.create(train_config_from_json(tiny(3), "test"));
  expect_error<InputError>([&] { load_run_model(run, Which::best); }, "solves puzzles");
  expect_error<InputError>([&] { load_run_data(run.read_manifest()); }, "solves puzzles");
  expect_error<InputError>([&] { load_recursive_run(run, Which::best); }, "no best model");
  const RunFolder other(folder / "other");
  other.create(train_config_from_json({{"preset", "smoke"}, {"task", "stability"}}, "test"));
  expect_error<InputError>([&] { load_recursive_run(other, Which::best); },
                           "edelta, does not solve puzzles");
}

TEST(RecursiveRun, NoticesOtherPuzzlesAndADamagedCarry) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder / "run");
  run.create(train_config_from_json(tiny(12), "test"));
  TrainOptions options;
  int64_t seen = 0;
  options.on_step = [&](const StepReport& report) { seen = report.iteration; };
  options.stop_signal = [&] { return seen == 5 ? SIGINT : 0; };
  train(run, options);
  Checkpoint found = read_checkpoint(run.checkpoint_file());
  found.tensors["state/inputs"].fill_(99);
  write_checkpoint(run.checkpoint_file(), found.tensors, found.progress);
  expect_error<InputError>([&] { train(run); }, "the carried 'inputs' is not the model's");
  found.tensors.erase("state/inputs");
  write_checkpoint(run.checkpoint_file(), found.tensors, found.progress);
  expect_error<InputError>([&] { train(run); }, "the carried 'inputs' is not the model's");

  const auto labels = run.puzzle_folder() / "test" / "all__labels.npy";
  std::filesystem::resize_file(labels, std::filesystem::file_size(labels) - 1);
  expect_error<InputError>([&] { train(run); }, "all__labels.npy is not what the run was trained");
}

TEST(RecursiveConfiguration, FollowsTheLengthOfTheRun) {
  const auto rates = [](json protocol) {
    const TrainConfig config =
        train_config_from_json({{"preset", "sudoku4"}, {"train", std::move(protocol)}}, "test");
    return std::pair(config.train.warmup, config.recursive->train.ema_rate);
  };
  EXPECT_EQ(rates({{"iterations", 100}}), std::pair(int64_t{10}, 0.9));
  EXPECT_EQ(rates({{"iterations", 100'000}}).second, 0.999);
  EXPECT_EQ(rates({{"iterations", 100}, {"warmup", 3}, {"ema_rate", 0.5}}),
            std::pair(int64_t{3}, 0.5));
}

TEST(RecursiveConfiguration, RoundTripsForEveryPresetAndKind) {
  for (const Preset& preset : presets()) {
    if (!preset.recursive) continue;
    for (const auto& [kind, name] : enum_names<models::Recursion>()) {
      json given{{"preset", preset.name}, {"model", name}};
      if (!preset.settings.contains("puzzles")) given["data"] = "somewhere";
      const TrainConfig config = train_config_from_json(given, "test");
      EXPECT_EQ(config.model_name(), name);
      EXPECT_EQ(to_json(train_config_from_json(to_json(config), "test")), to_json(config))
          << preset.name << " " << name;
    }
  }
}

TEST(RecursiveConfiguration, IsRecognisedByModelPresetAndData) {
  EXPECT_TRUE(is_recursive({{"model", "hrm"}}));
  EXPECT_TRUE(is_recursive({{"preset", "maze"}}));
  EXPECT_FALSE(is_recursive({{"preset", "maze"}, {"model", "gpt"}}));
  EXPECT_FALSE(is_recursive({{"task", "gyroscope"}}));
  const auto refused = [](const json& given, const char* reason) {
    expect_error<InputError>([&] { train_config_from_json(given, "here"); }, "here", reason);
  };
  refused({{"preset", "maze"}, {"model", "gpt"}}, "preset maze is for recursive models");
  refused({{"preset", "smoke"}, {"model", "trm"}}, "preset smoke is not for recursive models");
  refused({{"model", "trm"}}, "the puzzles are missing");
  refused({{"model", "trm"}, {"task", "gyroscope"}}, "not a task");
  refused({{"preset", "maze"}, {"puzzles", {{"size", 31}}}}, "size 31");
  refused({{"preset", "sudoku4"}, {"train", {{"accumulate", 2}}}}, "accumulate must be 1");
  refused({{"preset", "sudoku4"}, {"model", {{"mixer", "edelta"}, {"mlp_t", true}}}}, "mlp_t");
  refused({{"preset", "sudoku4"}, {"train", {{"ema_rate", 1}}}}, "ema_rate is 1");
  // A mixer takes the place of the preset's MLP over positions.
  const TrainConfig mixed = train_config_from_json(
      {{"preset", "sudoku4"}, {"model", {{"model", "trm"}, {"mixer", "edelta"}}}}, "test");
  EXPECT_FALSE(mixed.recursive->model.mlp_t);
}

TEST(RecursiveConfiguration, SettingsHaveFlagsOfTheirOwn) {
  std::set<std::string> flags;
  for (const Setting& setting : recursive_settings()) {
    EXPECT_TRUE(flags.insert(setting.field.flag_name()).second) << setting.field.flag_name();
  }
  for (const char* flag : {"--mixer", "--mixer-init", "--act-steps", "--width", "--ema-rate"}) {
    EXPECT_TRUE(flags.contains(flag)) << flag;
  }
}

TEST(PuzzleBatches, VisitEveryGroupOnceAnEpoch) {
  const test::TemporaryFolder folder;
  data::write_puzzles(folder / "puzzles", {.size = 4, .train = 12, .test = 2, .views = 2});
  const data::PuzzleSplit split = data::read_puzzle_data(folder / "puzzles").train;
  Protocol protocol;
  protocol.batch = 4;
  PuzzleBatches batches(split, protocol);
  std::vector<std::set<std::vector<int64_t>>> boards;  // of each group, in all views
  for (int64_t group = 0; group < 12; ++group) {
    auto& known = boards.emplace_back();
    for (int64_t example = 3 * group; example < 3 * group + 3; ++example) {
      std::vector<int32_t> row(16);
      split.sets[0].copy_inputs(example, row);
      known.insert({row.begin(), row.end()});
    }
  }
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::multiset<size_t> visited;
    for (int64_t i = 0; i < 3; ++i) {
      const torch::Tensor inputs = batches.at(3 * epoch + i).inputs;
      for (int64_t row = 0; row < 4; ++row) {
        const int32_t* cells = inputs.data_ptr<int32_t>() + 16 * row;
        for (size_t group = 0; group < 12; ++group) {
          if (boards[group].contains({cells, cells + 16})) visited.insert(group);
        }
      }
    }
    for (size_t group = 0; group < 12; ++group) EXPECT_EQ(visited.count(group), 1U) << group;
  }
  // Whatever was asked for before.
  const torch::Tensor seventh = batches.at(7).inputs;
  EXPECT_TRUE(torch::equal(PuzzleBatches(split, protocol).at(7).inputs, seventh));
  EXPECT_FALSE(torch::equal(batches.at(4).inputs, seventh));
}

TEST(PuzzleBatches, ExploreFromTwoStepsOn) {
  Protocol protocol;
  protocol.batch = 400;
  const models::Exploration drawn = exploration(protocol, 4, 3);
  EXPECT_EQ(drawn.r.min().item<int64_t>(), 2);
  EXPECT_EQ(drawn.r.max().item<int64_t>(), 4);
  EXPECT_NEAR(drawn.u.mean().item<double>(), 0.5, 0.1);
  EXPECT_TRUE(torch::equal(exploration(protocol, 4, 3).u, drawn.u));
  EXPECT_FALSE(torch::equal(exploration(protocol, 4, 4).u, drawn.u));
  EXPECT_EQ(exploration(protocol, 1, 0).r.max().item<int64_t>(), 2) << "no other is possible";
}

}  // namespace
}  // namespace edelta::train
