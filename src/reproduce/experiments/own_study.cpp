#include "reproduce/experiments/own_study.h"

#include <algorithm>

#include "reproduce/training_figures.h"
#include "reproduce/training_tables.h"

namespace edelta::reproduce {
namespace {

// How a task's table is called, and its unit.
struct TaskTitle {
  const char *task, *title;
  double scale;
};
constexpr TaskTitle kTitles[] = {{"gyroscope", "Gyroscope", 1e-3},
                                 {"stability", "Stability", 1e-6},
                                 {"near-pi", "Near π, single plane", 1e-6},
                                 {"near-pi-multi", "Near π, all planes", 1e-6},
                                 {"reversal", "Reversal", 1e-3}};

TrainingTable task_table(const OwnStudy& study, const TaskTitle& task) {
  const bool noisy = std::string(task.task) == "stability";
  return {.id = study.name + "-" + task.task,
          .title = std::string(task.title) + ": validation loss",
          .task = task.task,
          .scale = task.scale,
          .variants = study.variants,
          .gates = true,
          .plateau = study.plateau,
          .training_loss = true,
          .note = noisy ? kFloorNote : "",
          .noise_floor = noisy ? std::optional(kNoiseFloor) : std::nullopt};
}

}  // namespace

Experiment own_study(const OwnStudy& study) {
  Experiment experiment{.name = study.name,
                        .title = study.title,
                        .ours = true,
                        .claim = study.claim,
                        .method = study.method,
                        .plan_seed = plan_trainings,
                        .scope = training_scope,
                        .tables = training_tables,
                        .figures = dynamics_figures};
  for (const TaskTitle& task : kTitles) {
    if (std::find(study.tasks.begin(), study.tasks.end(), task.task) == study.tasks.end()) continue;
    experiment.trainings.push_back(task_table(study, task));
  }
  return experiment;
}

std::vector<Variant> five_and_no_operator() {
  std::vector<Variant> models = five();
  models.push_back(edelta_with("no operator", {{"branch", "none"}}));
  return models;
}

std::vector<Variant> all_models_by(const std::vector<Protocol>& protocols) {
  std::vector<Variant> variants;
  for (const Variant& model : five_and_no_operator()) {
    for (const Protocol& protocol : protocols) {
      variants.push_back(model);
      variants.back().label += ", " + protocol.label;
      variants.back().train = protocol.train;
    }
  }
  return variants;
}

Variant edelta_with(const std::string& label, const nlohmann::json& settings) {
  return {.label = label, .model = "edelta", .settings = settings};
}

Variant jpmhc_without_operator() {
  return {.label = "jpmhc, no operator", .model = "jpmhc", .settings = {{"cayley_alpha", 0}}};
}

}  // namespace edelta::reproduce
