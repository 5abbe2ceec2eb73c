// Which of the maps around the sub-layers does it, and whether a smaller start would do.
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {

Experiment factorisation_experiment() {
  const auto without_operator = [](const char* label, nlohmann::json settings) {
    settings["branch"] = "none";
    return edelta_with(label, settings);
  };
  return own_study(
      {.name = "factorisation",
       .title = "H_pre and H_post without an operator",
       .claim =
           "The paper has the maps H_pre and H_post around each sub-layer and does not say what "
           "they do by themselves.",
       .method =
           "edelta without an operator, with one of the four maps alone, with both of a sub-layer, "
           "with all four as they start in the published code and at the identity, and with each "
           "a product of two; and without them, but with weights that start as small as the "
           "products of two matrices do. All of them can compute what gpt of that depth can, and "
           "nothing else.",
       .variants = {without_operator("none", {{"projections", "off"}}),
                    without_operator("around attention", {{"projections", "attention"}}),
                    without_operator("around MLP", {{"projections", "mlp"}}),
                    without_operator("before attention", {{"projections", "attention-pre"}}),
                    without_operator("after attention", {{"projections", "attention-post"}}),
                    without_operator("before MLP", {{"projections", "mlp-pre"}}),
                    without_operator("after MLP", {{"projections", "mlp-post"}}),
                    without_operator("all four", nlohmann::json::object()),
                    without_operator("from the identity", {{"projection_init", "identity"}}),
                    without_operator("two factors each", {{"projection_factors", 2}}),
                    without_operator("none, small start",
                                     {{"projections", "off"}, {"init_std", 0.0035}})},
       .tasks = {"gyroscope", "near-pi-multi"},
       .plateau = true});
}

}  // namespace edelta::reproduce
