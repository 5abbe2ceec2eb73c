#include "reproduce/suite_preset.h"

#include <fmt/format.h>

#include "edelta/base/error.h"

namespace edelta::reproduce {
namespace {

// Attention needs longer than the preset's MLP over positions.
nlohmann::json longer_sudoku4() {
  return {{"train", {{"iterations", 1000}, {"eval_interval", 100}}}};
}

// Of one small size, so that a run takes some five minutes of one core. Attention learns where
// cells are only if its weights may grow: with the presets' weight decay of 1 it had learnt nothing
// of 6×6 cells after 1600 steps. Of mazes it learns the ways at half of Sudoku's rate: after 1500
// steps on 5×5 cells 33 % were solved at 1e-3 and 3 % at 2e-3; on 7×7 cells none at 2e-3 after
// 1000.
nlohmann::json quick_puzzles() {
  const nlohmann::json model{{"hidden_size", 64}, {"L_cycles", 2}, {"halt_max_steps", 4}};
  const auto train = [](int64_t iterations, double lr) -> nlohmann::json {
    return {{"iterations", iterations}, {"eval_interval", 250}, {"batch", 64}, {"lr", lr},
            {"min_lr", lr / 10},        {"weight_decay", 0.1}};
  };
  return {
      {"sudoku4", longer_sudoku4()},
      {"sudoku6", {{"train", train(3000, 2e-3)}, {"model", model}, {"puzzles", {{"train", 5000}}}}},
      {"maze",
       {{"train", train(2500, 1e-3)},
        {"model", model},
        {"puzzles", {{"size", 5}, {"train", 4000}}}}}};
}

nlohmann::json smoke_puzzles() {
  const nlohmann::json settings{
      {"train", {{"iterations", 6}, {"eval_interval", 3}, {"batch", 4}}},
      {"model",
       {{"hidden_size", 32}, {"L_cycles", 1}, {"halt_max_steps", 2}, {"width_multiple", 16}}},
      {"puzzles", {{"train", 20}, {"test", 5}, {"views", 0}}}};
  return {{"sudoku4", settings}, {"sudoku6", settings}, {"maze", settings}};
}

const std::vector<SuitePreset>& suite_presets() {
  static const std::vector<SuitePreset> all{
      {.name = "paper",
       .train_preset = "paper",
       .puzzles = {{"sudoku4", longer_sudoku4()}},
       .seeds = {42, 123, 456}},
      {.name = "quick",
       .train_preset = "quick",
       .text_train = {{"iterations", 600}, {"eval_interval", 200}},
       .puzzles = quick_puzzles(),
       .seeds = {42, 123, 456}},
      // Everything once, as a test; too short to learn much.
      {.name = "smoke",
       .train_preset = "smoke",
       .train = {{"iterations", 150}},
       .text_preset = "smoke",
       .text_train = {{"iterations", 20}},
       .puzzles = smoke_puzzles(),
       .comparable = false,
       .seeds = {42},
       .measurement_share = 0.1,
       .theorems = {.samples = 20, .sizes = {2, 4, 8}},
       .reflection = {.operators = {}, .samples = {10, 500}, .iterations = 40, .on_progress = {}},
       .depth = {.layers = {2, 8},
                 .model_settings = {{"n_embd", 16}},
                 .task_settings = {{"steps", 8}},
                 .preset = "smoke",
                 .iterations = 4},
       .bench = {.batch = 2, .length = 32, .repetitions = 1, .compare = false}},
      // Small models that do learn.
      {.name = "demo",
       .train_preset = "smoke",
       .text_preset = "smoke",
       .puzzles = quick_puzzles(),
       .comparable = false,
       .seeds = {42},
       .reflection = {.operators = {"ddl", "hybrid", "jpmhc"},
                      .samples = {10, 100, 500},
                      .on_progress = {}}},
  };
  return all;
}

}  // namespace

const SuitePreset& suite_preset(const std::string& name) {
  for (const SuitePreset& preset : suite_presets()) {
    if (preset.name == name) return preset;
  }
  throw InputError(fmt::format("preset is '{}'; it must be one of: {}", name,
                               fmt::join(suite_preset_names(), ", ")));
}

std::vector<std::string> suite_preset_names() {
  std::vector<std::string> names;
  for (const SuitePreset& preset : suite_presets()) names.push_back(preset.name);
  return names;
}

}  // namespace edelta::reproduce
