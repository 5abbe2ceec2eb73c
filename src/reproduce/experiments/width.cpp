// Width against depth at matched parameters.
#include "reproduce/experiments/experiments.h"
#include "reproduce/training_figures.h"
#include "reproduce/training_tables.h"

namespace edelta::reproduce {

Experiment width_experiment() {
  const auto row = [](const char* label, int width, int layers, PaperValue loss) {
    return Variant{label, "edelta", {{"n_embd", width}, {"n_layer", layers}}, loss};
  };
  return {.name = "width",
          .title = "Width against depth at matched parameters",
          .claim = "The narrow, deep edelta has a quarter of the loss of wider, shallower ones.",
          .method = "edelta on gyroscope in three shapes.",
          .trainings = {{.id = "width-gyroscope",
                         .title = "Gyroscope: validation loss",
                         .task = "gyroscope",
                         .scale = 1e-3,
                         .variants = {row("D 184, 3 layers", 184, 3, {3.97e-3, {}}),
                                      row("D 224, 2 layers", 224, 2, {4.01e-3, {}}),
                                      row("D 128, 6 layers", 128, 6, {1.02e-3, {}})},
                         .note = "These sizes are the same in every preset."}},
          .plan_seed = plan_trainings,
          .scope = training_scope,
          .tables = training_tables,
          .figures = dynamics_figures};
}

}  // namespace edelta::reproduce
