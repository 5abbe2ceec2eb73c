#include "reproduce/experiments/own_study.h"

#include "reproduce/training_figures.h"
#include "reproduce/training_tables.h"

namespace edelta::reproduce {

Experiment own_study(const OwnStudy& study) {
  return {.name = study.name,
          .title = study.title,
          .ours = true,
          .claim = study.claim,
          .method = study.method,
          .trainings = {{.id = study.name + "-gyroscope",
                         .title = "Gyroscope: validation loss",
                         .task = "gyroscope",
                         .scale = 1e-3,
                         .variants = study.variants,
                         .gates = true},
                        {.id = study.name + "-stability",
                         .title = "Stability: validation loss",
                         .task = "stability",
                         .scale = 1e-6,
                         .variants = study.variants,
                         .gates = true,
                         .note = kFloorNote,
                         .noise_floor = kNoiseFloor}},
          .plan_seed = plan_trainings,
          .scope = training_scope,
          .tables = training_tables,
          .figures = dynamics_figures};
}

Variant edelta_with(const std::string& label, const nlohmann::json& settings) {
  return {.label = label, .model = "edelta", .settings = settings};
}

}  // namespace edelta::reproduce
