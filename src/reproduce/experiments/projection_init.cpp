// Initialisation of H_pre and H_post.
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {

Experiment projection_init_experiment() {
  return own_study(
      {.name = "projection-init",
       .title = "Initialisation of H_pre and H_post",
       .claim =
           "The paper's text starts the maps around each sub-layer at the identity, its published "
           "code at N(0, 0.02²).",
       .method = "edelta with both.",
       .variants = {edelta_with("normal", {{"projection_init", "normal"}}),
                    edelta_with("identity", {{"projection_init", "identity"}})}});
}

}  // namespace edelta::reproduce
