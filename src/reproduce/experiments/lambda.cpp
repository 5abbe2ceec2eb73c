// Weight of the gate regulariser.
#include "reproduce/experiments/experiments.h"
#include "reproduce/training_figures.h"
#include "reproduce/training_tables.h"

namespace edelta::reproduce {

Experiment lambda_experiment() {
  const auto row = [](const char* label, double weight, double loss, const char* gamma) {
    return Variant{label, "edelta", {{"gate_reg_weight", weight}}, PaperValue{loss, {}}, gamma};
  };
  return {.name = "lambda",
          .title = "Weight of the gate regulariser",
          .claim =
              "On gyroscope λ = 0.1 has the lowest loss and polar gates; without the "
              "regulariser the gates stay undecided.",
          .method = "edelta on gyroscope with four weights λ of the regulariser.",
          .trainings = {{.id = "lambda-gyroscope",
                         .title = "Gyroscope: validation loss and final γ",
                         .task = "gyroscope",
                         .scale = 1e-4,
                         .variants = {row("λ = 0", 0, 8.2e-4, "0.3–0.7"),
                                      row("λ = 0.05", 0.05, 6.1e-4, "0.1–0.9"),
                                      row("λ = 0.1", 0.1, 5.69e-4, "polar"),
                                      row("λ = 0.2", 0.2, 5.8e-4, "polar")},
                         .gates = true,
                         .note = "The paper's own main table has 1.02×10⁻³ for the model that is "
                                 "5.69×10⁻⁴ here (λ = 0.1)."}},
          .plan_seed = plan_trainings,
          .scope = training_scope,
          .tables = training_tables,
          .figures = dynamics_figures};
}

}  // namespace edelta::reproduce
