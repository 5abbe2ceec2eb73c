#include "reproduce/plan.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "edelta/base/error.h"
#include "edelta/data/tokens.h"
#include "edelta/models/recursive.h"
#include "edelta/train/training_data.h"
#include "reproduce/experiments/experiments.h"

namespace edelta::reproduce {
namespace {

using nlohmann::json;

std::string text_of(const nlohmann::ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

train::TrainConfig puzzle_config(const SuitePreset& preset, const TrainingTable& table,
                                 const Variant& variant, uint64_t seed, const std::string& source) {
  json given = preset.puzzles.value(table.task, json::object());
  given["preset"] = table.task;
  given["model"].update(variant.settings);
  given["model"]["model"] = variant.model;
  given["train"].update(variant.train);
  given["train"]["seed"] = seed;
  train::TrainConfig config = train::train_config_from_json(given, source);
  if (!variant.matched) return config;
  models::RecursiveConfig plain = config.recursive->model;
  plain.mixer_type = models::Mixer::none;
  plain.mixer_operator = true;
  config.recursive->model =
      models::matched_to(config.recursive->model, models::count_parameters(plain));
  return config;
}

// How the task of a configuration and its model are called.
std::string subject_of(const train::TrainConfig& config) {
  const std::string task = config.recursive ? config.preset : config.task_name();
  return (task.empty() ? kText : task) + "-" + config.model_name();
}

nlohmann::ordered_json model_settings(const train::TrainConfig& config) {
  return config.recursive ? models::to_json(config.recursive->model)
                          : models::to_json(config.model);
}

// The names that match a pattern as shells have them.
std::set<std::string> matching(const std::vector<Step>& steps, const std::string& pattern) {
  std::set<std::string> names;
  for (const Step& step : steps) {
    if (fnmatch(pattern.c_str(), step.name.c_str(), 0) == 0) names.insert(step.name);
  }
  if (names.empty()) {
    throw InputError(
        fmt::format("--only {}: none of the {} steps is called so, from the first letter to the "
                    "last; --dry-run without --only lists them",
                    pattern, steps.size()));
  }
  return names;
}

std::vector<Step> only_matching(std::vector<Step> steps, const std::vector<std::string>& patterns) {
  std::set<std::string> named;
  for (const std::string& pattern : patterns) named.merge(matching(steps, pattern));
  std::set<std::string> needed;
  for (const Step& step : steps) {
    if (named.contains(step.name)) needed.insert(step.after);
  }
  std::erase_if(steps, [&](const Step& step) {
    return !named.contains(step.name) && !named.contains(step.after) && !needed.contains(step.name);
  });
  return steps;
}

}  // namespace

void Plan::add(Step step) {
  if (names_.insert(step.name).second) steps_.push_back(std::move(step));
}

Step Plan::add_training(const TrainingTable& table, const Variant& variant, uint64_t seed) {
  train::TrainConfig config = training_config(folder_, preset_, table, variant, seed);
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

train::TrainConfig training_config(const SuiteFolder& folder, const SuitePreset& preset,
                                   const TrainingTable& table, const Variant& variant,
                                   uint64_t seed) {
  const std::string source = table.id + ", " + variant.label;
  if (table.puzzles) return puzzle_config(preset, table, variant, seed, source);
  json model = variant.settings;
  model["model"] = variant.model;
  json train = table.on_text() ? preset.text_train : preset.train;
  train.update(variant.train);
  train["seed"] = seed;
  json given{{"train", train}, {"model", model}};
  if (!table.on_text()) {
    given.update({{"preset", preset.train_preset}, {"task", table.task}});
    train::TrainConfig config = train::train_config_from_json(given, source);
    config.task->train = std::max<int64_t>(
        1, std::llround(variant.training_set * static_cast<double>(config.task->train)));
    return config;
  }
  given["model"]["head"] = "token";
  given.update({{"preset", preset.text_preset},
                {"data", std::filesystem::absolute(folder.text()).string()}});
  train::TrainConfig config = train::train_config_from_json(given, source);
  if (data::is_token_folder(folder.text())) train::load_training_data(config)->fit(config);
  return config;
}

bool same_run(const train::TrainConfig& a, const train::TrainConfig& b) {
  nlohmann::ordered_json there = to_json(a), here = to_json(b);
  if (there.contains("data") && here.contains("data")) there["data"] = here["data"];
  return there == here;
}

std::string run_name(const train::TrainConfig& config) {
  json given{{"preset", config.preset}, {"model", {{"model", config.model_name()}}}};
  if (config.task) {
    given["task"] = config.task->task;
  } else if (!config.recursive) {
    given["data"] = config.data;
    given["model"].update({{"head", "token"}, {"vocab_size", config.model.vocab_size}});
  }
  const train::TrainConfig usual = train::train_config_from_json(given, config.preset);
  std::string name = subject_of(config);
  const auto add_differences = [&](const nlohmann::ordered_json& here,
                                   const nlohmann::ordered_json& usually,
                                   const std::set<std::string>& left_out) {
    for (const auto& [key, value] : here.items()) {
      if (left_out.contains(key) || value == usually[key]) continue;
      name += fmt::format("-{}={}", key, text_of(value));
    }
  };
  add_differences(model_settings(config), model_settings(usual), {});
  // A suite has one length and one rhythm, and the seed stands at the end.
  add_differences(fields_to_json(config.train), fields_to_json(usual.train),
                  {"iterations", "warmup", "eval_interval", "seed"});
  if (config.task) add_differences(json(*config.task), json(*usual.task), {});
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
  return manifest.only.empty() ? steps : only_matching(std::move(steps), manifest.only);
}

}  // namespace edelta::reproduce
