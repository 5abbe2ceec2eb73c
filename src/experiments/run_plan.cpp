#include "edelta/experiments/run_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "edelta/experiments/reflection.h"

namespace edelta::experiments {
namespace {

using nlohmann::json;

constexpr int64_t kNormPositions = 100;

std::string text_of(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

class Planner {
 public:
  Planner(const SuiteFolder& folder, const SuiteManifest& manifest)
      : folder_(folder), manifest_(manifest), preset_(suite_preset(manifest.preset)) {}

  std::vector<Step> plan() {
    const std::vector<Experiment> chosen = select_experiments(manifest_.names);
    for (const Experiment& experiment : chosen) add_measurements(experiment);
    for (const uint64_t seed : manifest_.seeds) {
      for (const Experiment& experiment : chosen) add_seeded(experiment, seed);
    }
    std::stable_partition(steps_.begin(), steps_.end(),
                          [](const Step& step) { return !step.exclusive; });
    return steps_;
  }

 private:
  void add(Step step) {
    if (names_.insert(step.name).second) steps_.push_back(std::move(step));
  }

  Step measurement(const std::string& name, std::vector<std::string> arguments,
                   const std::vector<std::string>& further, double seconds) const {
    arguments.insert(arguments.end(), further.begin(), further.end());
    arguments.emplace_back("--json");
    return {.name = name,
            .arguments = std::move(arguments),
            .training = std::nullopt,
            .output = folder_.measurement(name),
            .seconds = preset_.measurement_share * seconds};
  }

  void add_measurements(const Experiment& experiment) {
    switch (experiment.kind) {
      case Kind::theorems:
        return add(measurement("theorems", {"verify"}, preset_.verify_options, 10));
      case Kind::configs:
        return add(measurement("configs", {"params"}, {}, 1));
      case Kind::efficiency: {
        Step step = measurement("efficiency", {"bench"}, preset_.bench_options, 330);
        step.exclusive = true;
        return add(std::move(step));
      }
      default:
        return;
    }
  }

  void add_seeded(const Experiment& experiment, uint64_t seed) {
    if (experiment.kind == Kind::reflection) {
      for (const std::string& op : reflection_operators(preset_)) add_reflection(op, seed);
    }
    for (const TrainingTable& table : experiment.tables) {
      for (const Variant& variant : table.variants) {
        const train::TrainConfig config = training_config(preset_, table, variant, seed);
        const std::string name = add_training(config);
        if (experiment.kind == Kind::norms) add_norms(config, name);
      }
    }
  }

  std::string add_training(const train::TrainConfig& config) {
    const std::string name = run_name(config);
    add({.name = name,
         .arguments = {"train", "--resume", folder_.run(name).string()},
         .training = config});
    return name;
  }

  void add_norms(const train::TrainConfig& config, const std::string& run) {
    const int64_t positions = std::min(kNormPositions, config.model.block_size);
    Step step = measurement(
        norms_name(run),
        {"norms", folder_.run(run).string(), "--positions", std::to_string(positions)}, {}, 2);
    step.after = run;
    add(std::move(step));
  }

  void add_reflection(const std::string& op, uint64_t seed) {
    add(measurement(reflection_name(op, seed),
                    {"reflect", "--operators", op, "--seeds", std::to_string(seed)},
                    preset_.reflect_options, 20));
  }

  const SuiteFolder& folder_;
  const SuiteManifest& manifest_;
  const SuitePreset& preset_;
  std::vector<Step> steps_;
  std::set<std::string> names_;
};

}  // namespace

train::TrainConfig training_config(const SuitePreset& preset, const TrainingTable& table,
                                   const Variant& variant, uint64_t seed) {
  json model = variant.settings;
  model["model"] = variant.model;
  json train = preset.train;
  train["seed"] = seed;
  return train::train_config_from_json(
      {{"preset", preset.train_preset}, {"train", train}, {"model", model}, {"task", table.task}},
      table.id + ", " + variant.label);
}

std::string run_name(const train::TrainConfig& config) {
  const train::TrainConfig usual = train::train_config_from_json(
      {{"preset", config.preset}, {"model", config.model.model}, {"task", config.task->task}},
      config.preset);
  const nlohmann::ordered_json usual_model = models::to_json(usual.model);
  const nlohmann::ordered_json model = models::to_json(config.model);
  std::string name = config.task->task + "-" + config.model.model;
  for (const auto& [key, value] : model.items()) {
    if (value != usual_model[key]) name += fmt::format("-{}={}", key, text_of(value));
  }
  return fmt::format("{}-seed{}", name, config.train.seed);
}

std::string norms_name(const std::string& run) { return "norms-" + run; }

std::string reflection_name(const std::string& op, uint64_t seed) {
  return fmt::format("reflection-{}-seed{}", op, seed);
}

const std::vector<std::string>& reflection_operators(const SuitePreset& preset) {
  return preset.reflection_operators.empty() ? reflection_operator_names()
                                             : preset.reflection_operators;
}

std::vector<Step> plan_steps(const SuiteFolder& folder, const SuiteManifest& manifest) {
  return Planner(folder, manifest).plan();
}

}  // namespace edelta::experiments
