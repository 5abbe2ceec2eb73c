// Initialisation of the gate: where it starts, it ends.
#include "reproduce/experiments/experiments.h"
#include "reproduce/training_figures.h"
#include "reproduce/training_tables.h"

namespace edelta::reproduce {
namespace {

Variant gate_start(double bias, const char* gamma, PaperValue loss) {
  const char* const label = bias > 0 ? "bias +1.5" : bias < 0 ? "bias −1.5" : "bias 0";
  return {label, "edelta", {{"init_gate_bias", bias}, {"gate_reg_weight", 0.5}}, loss, gamma};
}

}  // namespace

Experiment gate_init_experiment() {
  return {
      .name = "gate-init",
      .title = "Initialisation of the gate",
      .claim =
          "With λ = 0.5 the gate ends where it starts: rotation from +1.5, reflection from "
          "−1.5, undecided from 0; in all planes the reflection has the lower loss.",
      .method =
          "edelta on both near-π tasks with three initial gate biases; λ, the weight of the gate's "
          "regulariser, is 0.5.",
      .trainings = {{.id = "gate-init-single",
                     .title = "Single plane: validation loss and final γ",
                     .task = "near-pi",
                     .scale = 1e-6,
                     .variants = {gate_start(1.5, "1.000", {2.15e-6, 0.53e-6}),
                                  gate_start(0, "≈ 0.75", {2.81e-6, 1.02e-6}),
                                  gate_start(-1.5, "0.000", {2.52e-6, 0.33e-6})},
                     .gates = true},
                    {.id = "gate-init-multi",
                     .title = "All planes: validation loss and final γ",
                     .task = "near-pi-multi",
                     .scale = 1e-6,
                     .variants = {gate_start(1.5, "1.000", {1.22e-6, 0.13e-6}),
                                  gate_start(0, "≈ 0.73", {1.36e-6, 0.40e-6}),
                                  gate_start(-1.5, "0.000", {0.686e-6, 0.108e-6})},
                     .gates = true}},
      .plan_seed = plan_trainings,
      .scope = training_scope,
      .tables = training_tables,
      .figures = [](const Experiment& experiment, RunArchive& archive) -> std::vector<Figure> {
        return {dynamics_figure(experiment, archive), gates_figure(experiment, archive)};
      }};
}

}  // namespace edelta::reproduce
