// Weight decay: does a connection generalise better, or are the others held back from learning
// their training sequences by heart too little?
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {

Experiment weight_decay_experiment() {
  // The paper's, and more.
  const std::vector<Protocol> decays{
      {"0.1"}, {"1", {{"weight_decay", 1}}}, {"10", {{"weight_decay", 10}}}};
  return own_study(
      {.name = "weight-decay",
       .title = "Weight decay",
       .claim = "The paper trains every architecture with a weight decay of 0.1.",
       .method =
           "The five architectures, and edelta without an operator, with that weight decay, with "
           "ten and with a hundred times as much. At the paper's size several learn their training "
           "sequences by heart; the paper's decay takes a tenth from the weights over a whole "
           "training by its protocol.",
       .variants = all_models_by(decays),
       .tasks = {"stability", "near-pi", "near-pi-multi"},
       .plateau = true});
}

}  // namespace edelta::reproduce
