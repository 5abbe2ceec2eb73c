#include "reproduce/experiments/experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "edelta/base/error.h"

namespace edelta::reproduce {
namespace {

bool has_table(const Experiment& experiment, const std::string& id) {
  return std::any_of(experiment.trainings.begin(), experiment.trainings.end(),
                     [&](const TrainingTable& table) { return table.id == id; });
}

void require_known(const std::string& name) {
  std::vector<std::string> known;
  for (const Experiment& experiment : experiments()) {
    if (name == "all" || name == experiment.name || has_table(experiment, name)) return;
    known.push_back(experiment.name);
  }
  throw InputError(fmt::format("experiment is '{}'; it must be all or one of: {}", name,
                               fmt::join(known, ", ")));
}

}  // namespace

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all{
      theorems_experiment(),      configs_experiment(),         main_experiment(),
      near_pi_experiment(),       norms_experiment(),           gate_init_experiment(),
      reflection_experiment(),    lambda_experiment(),          width_experiment(),
      efficiency_experiment(),    baselines_experiment(),       gain_experiment(),
      factorisation_experiment(), learning_rate_experiment(),   weight_decay_experiment(),
      training_set_experiment(),  reversal_experiment(),        causal_experiment(),
      blend_experiment(),         projection_init_experiment(), streams_experiment(),
      edelta_stream_experiment(), depth_experiment(),           language_experiment(),
      puzzles_experiment(),
  };
  return all;
}

std::vector<Experiment> select_experiments(const std::vector<std::string>& names) {
  for (const std::string& name : names) require_known(name);
  const std::set<std::string> wanted(names.begin(), names.end());
  std::vector<Experiment> chosen;
  for (const Experiment& experiment : experiments()) {
    Experiment part = experiment;
    if (!wanted.contains("all") && !wanted.contains(experiment.name)) {
      std::erase_if(part.trainings,
                    [&](const TrainingTable& table) { return !wanted.contains(table.id); });
      if (part.trainings.empty()) continue;
    }
    chosen.push_back(std::move(part));
  }
  return chosen;
}

}  // namespace edelta::reproduce
