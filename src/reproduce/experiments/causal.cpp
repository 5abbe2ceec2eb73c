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
       .method = "The hybrid with its three ways to pool; prefix and token are causal.",
       .variants = {hybrid("sequence", {{"pool", "sequence"}}),
                    hybrid("prefix", {{"pool", "prefix"}}), hybrid("token", {{"pool", "token"}})}});
}

}  // namespace edelta::reproduce
