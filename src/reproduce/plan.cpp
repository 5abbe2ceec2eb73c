#include "reproduce/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reproduce/experiments/experiments.h"

namespace edelta::reproduce {
namespace {

using nlohmann::json;

std::string text_of(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

}  // namespace

void Plan::add(Step step) {
  if (names_.insert(step.name).second) steps_.push_back(std::move(step));
}

Step Plan::add_training(const TrainingTable& table, const Variant& variant, uint64_t seed) {
  train::TrainConfig config = training_config(preset_, table, variant, seed);
  const std::string name = run_name(config);
  Step step{.name = name, .work = Training{std::move(config), folder_.run(name)}};
  add(step);
  return step;
}

Step Plan::measurement(const std::string& name, Request request, double seconds) const {
  return {.name = name,
          .work = Measurement{std::move(request), folder_.measurement(name)},
          .seconds = preset_.measurement_share * seconds};
}

void Plan::add_measurement(const std::string& name, Request request, double seconds,
                           const std::string& after) {
  Step step = measurement(name, std::move(request), seconds);
  step.after = after;
  add(std::move(step));
}

void Plan::add_timing(const std::string& name, Request request, double seconds) {
  Step step = measurement(name, std::move(request), seconds);
  step.exclusive = true;
  add(std::move(step));
}

train::TrainConfig training_config(const SuitePreset& preset, const TrainingTable& table,
                                   const Variant& variant, uint64_t seed) {
  json model = variant.settings;
  model["model"] = variant.model;
  json train = preset.train;
  train.update(variant.train);
  train["seed"] = seed;
  return train::train_config_from_json(
      {{"preset", preset.train_preset}, {"train", train}, {"model", model}, {"task", table.task}},
      table.id + ", " + variant.label);
}

std::string run_name(const train::TrainConfig& config) {
  const train::TrainConfig usual = train::train_config_from_json(
      {{"preset", config.preset}, {"model", config.model.model}, {"task", config.task->task}},
      config.preset);
  std::string name = config.task->task + "-" + config.model.model;
  const auto add_differences = [&](const nlohmann::ordered_json& here,
                                   const nlohmann::ordered_json& usually,
                                   const std::set<std::string>& left_out) {
    for (const auto& [key, value] : here.items()) {
      if (left_out.contains(key) || value == usually[key]) continue;
      name += fmt::format("-{}={}", key, text_of(value));
    }
  };
  add_differences(models::to_json(config.model), models::to_json(usual.model), {});
  // A suite has one length, and the seed stands at the end.
  add_differences(fields_to_json(config.train), fields_to_json(usual.train),
                  {"iterations", "warmup", "seed"});
  return fmt::format("{}-seed{}", name, config.train.seed);
}

std::vector<Step> plan_steps(const SuiteFolder& folder, const SuiteManifest& manifest) {
  return plan_steps(folder, manifest, select_experiments(manifest.names));
}

std::vector<Step> plan_steps(const SuiteFolder& folder, const SuiteManifest& manifest,
                             const std::vector<Experiment>& experiments) {
  Plan plan(folder, suite_preset(manifest.preset));
  for (const Experiment& experiment : experiments) {
    if (experiment.plan_once) experiment.plan_once(experiment, plan);
  }
  for (const uint64_t seed : manifest.seeds) {
    for (const Experiment& experiment : experiments) {
      if (experiment.plan_seed) experiment.plan_seed(experiment, plan, seed);
    }
  }
  std::vector<Step> steps = plan.steps();
  std::stable_partition(steps.begin(), steps.end(),
                        [](const Step& step) { return !step.exclusive; });
  return steps;
}

}  // namespace edelta::reproduce
