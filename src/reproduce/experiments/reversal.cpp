// A rule that flips: does an operator help where a belief has to change, and which?
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"
#include "reproduce/operator_probes.h"

namespace edelta::reproduce {
namespace {

// edelta whose operators see the positions so far alone.
Variant causal(const std::string& label, nlohmann::json settings) {
  settings.update({{"pool", "prefix"}});
  return edelta_with(label, settings);
}

}  // namespace

Experiment reversal_experiment() {
  Experiment experiment = own_study(
      {.name = "reversal",
       .title = "Reversal: which operator?",
       .claim = "The paper's introduction motivates reflections by beliefs that flip, and measures "
                "none in a transformer.",
       .method = "A rotation whose rule flips at a moment that the input announces. All models are "
                 "causal: the operators see the mean of the positions so far, in one row the "
                 "position alone, in one nothing of the input.",
       .variants = {{.label = "gpt", .model = "gpt"},
                    {.label = "jpmhc", .model = "jpmhc"},
                    jpmhc_without_operator(),
                    edelta_with("no operator", {{"branch", "none"}}),
                    causal("edelta", {}),
                    causal("λ = 0", {{"gate_reg_weight", 0}}),
                    causal("penalty to the gate alone", {{"gate_gradient", "gate"}}),
                    edelta_with("penalty to the gate alone, of the position",
                                {{"gate_gradient", "gate"}, {"pool", "token"}}),
                    edelta_with("penalty to the gate alone, fixed",
                                {{"gate_gradient", "gate"}, {"generator", "fixed"}}),
                    causal("hard blend", {{"blend", "hard"}, {"gate_gradient", "gate"}}),
                    causal("geodesic", {{"blend", "geodesic"}}),
                    causal("geodesic, from the middle",
                           {{"blend", "geodesic"}, {"init_gate_bias", 0}}),
                    causal("rotation alone", {{"branch", "cayley"}}),
                    causal("rotation alone, live",
                           {{"branch", "cayley"}, {"operator_init", "live"}}),
                    causal("reflection alone", {{"branch", "householder"}})},
       .tasks = {"reversal"},
       .plateau = true});
  experiment.plan_seed = plan_probed_trainings;
  return experiment;
}

}  // namespace edelta::reproduce
