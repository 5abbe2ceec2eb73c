// Causal pooling.
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {

Experiment causal_experiment() {
  return own_study(
      {.name = "causal",
       .title = "Causal pooling",
       .claim =
           "The paper pools over the whole sequence, so that each position sees those after it; it "
           "does not say what remains without that.",
       .method = "edelta with its three ways to pool; prefix and token are causal.",
       .variants = {edelta_with("sequence", {{"pool", "sequence"}}),
                    edelta_with("prefix", {{"pool", "prefix"}}),
                    edelta_with("token", {{"pool", "token"}})}});
}

}  // namespace edelta::reproduce
