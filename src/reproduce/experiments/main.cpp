// The main comparison: five architectures on two tasks.
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/stability_runs.h"
#include "reproduce/training_figures.h"
#include "reproduce/training_tables.h"

namespace edelta::reproduce {

TrainingTable stability_runs(const std::string& id) {
  return {.id = id,
          .title = "Stability: validation loss",
          .task = "stability",
          .scale = 1e-6,
          .variants = five({{16.4e-6, 0.7e-6},
                            {15.3e-6, 1.8e-6},
                            {8650e-6, 140e-6},
                            {8.19e-6, 3.69e-6},
                            {4.35e-6, 0.27e-6}}),
          .training_loss = true,
          .note = kFloorNote,
          .noise_floor = kNoiseFloor};
}

Experiment main_experiment() {
  return {
      .name = "main",
      .title = "Main comparison",
      .claim =
          "At matched parameters edelta has the lowest loss on stability and is second to jpmhc "
          "on gyroscope.",
      .method = "Each architecture is trained by the same protocol.",
      .trainings = {{.id = "main-gyroscope",
                     .title = "Gyroscope: validation loss",
                     .task = "gyroscope",
                     .scale = 1e-3,
                     .variants = five({{3.78e-3, 0.04e-3},
                                       {3.36e-3, 0.13e-3},
                                       {4.02e-3, 0.03e-3},
                                       {0.308e-3, 0.020e-3},
                                       {1.02e-3, 0.26e-3}}),
                     .training_loss = true},
                    stability_runs("main-stability")},
      .plan_seed = plan_trainings,
      .scope = training_scope,
      .tables = training_tables,
      .figures = comparison_figures};
}

}  // namespace edelta::reproduce
