// Hard blend.
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {

Experiment blend_experiment() {
  return own_study(
      {.name = "blend",
       .title = "Hard blend",
       .claim = "The paper blends linearly, which is orthogonal only where the gate has decided.",
       .method = "edelta with the linear blend and with a hard one that is exactly orthogonal at "
                 "every step.",
       .variants = {edelta_with("linear", {{"blend", "linear"}}),
                    edelta_with("hard", {{"blend", "hard"}})}});
}

}  // namespace edelta::reproduce
