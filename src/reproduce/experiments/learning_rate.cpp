// Learning rates at the peak and at the end, so that no architecture wins by the paper's single
// choice.
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {

Experiment learning_rate_experiment() {
  // The paper's; a third and three times its rates; and a lower end. Presets have rates of their
  // own.
  const std::vector<Protocol> schedules{{"1e-3 → 1e-4", {{"lr", 1e-3}, {"min_lr", 1e-4}}},
                                        {"3e-4 → 3e-5", {{"lr", 3e-4}, {"min_lr", 3e-5}}},
                                        {"3e-3 → 3e-4", {{"lr", 3e-3}, {"min_lr", 3e-4}}},
                                        {"1e-3 → 1e-5", {{"lr", 1e-3}, {"min_lr", 1e-5}}}};
  return own_study(
      {.name = "learning-rate",
       .title = "Learning rates",
       .claim =
           "The paper trains every architecture with one schedule: a peak of 10⁻³ and an end of "
           "10⁻⁴.",
       .method =
           "The five architectures, and edelta without an operator, with that schedule, with a "
           "third and three times its rates, and with a tenth of its last rate. Where a loss is "
           "near the floor of its task, the noise of the last steps counts.",
       .variants = all_models_by(schedules),
       .tasks = {"gyroscope", "stability", "near-pi", "near-pi-multi"},
       .plateau = true});
}

}  // namespace edelta::reproduce
