// Rotations near π, which a Cayley rotation cannot reach.
#include "reproduce/experiments/experiments.h"
#include "reproduce/training_figures.h"
#include "reproduce/training_tables.h"

namespace edelta::reproduce {

Experiment near_pi_experiment() {
  return {.name = "near-pi",
          .title = "Rotations near π",
          .claim =
              "Close to the angle that a Cayley rotation cannot reach, edelta has the "
              "lowest loss, in one plane and in all 32.",
          .method = "The five architectures on rotations by 3.10 in one plane and by 3.14 in all.",
          .trainings = {{.id = "near-pi-single",
                         .title = "Near π, single plane: validation loss",
                         .task = "near-pi",
                         .scale = 1e-6,
                         .variants = five({{11.90e-6, 0.01e-6},
                                           {11.1e-6, 0.4e-6},
                                           {9640e-6, 335e-6},
                                           {6.54e-6, 1.16e-6},
                                           {1.44e-6, 0.30e-6}}),
                         .training_loss = true},
                        {.id = "near-pi-multi",
                         .title = "Near π, all planes: validation loss",
                         .task = "near-pi-multi",
                         .scale = 1e-6,
                         .variants = five({{3.34e-6, 0.01e-6},
                                           {3.75e-6, 0.10e-6},
                                           {1630e-6, 130e-6},
                                           {1.69e-6, 0.10e-6},
                                           {1.24e-6, 0.37e-6}}),
                         .training_loss = true}},
          .plan_seed = plan_trainings,
          .scope = training_scope,
          .tables = training_tables,
          .figures = comparison_figures};
}

}  // namespace edelta::reproduce
