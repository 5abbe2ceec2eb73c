// Peak learning rates, so that no architecture wins by the paper's single choice.
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {

Experiment learning_rate_experiment() {
  std::vector<Variant> variants;
  const auto add = [&](const std::string& label, const std::string& model,
                       const nlohmann::json& settings) {
    // The paper's is in the middle; the last learning rate stays a tenth of the peak.
    variants.push_back({.label = label + ", 3e-4",
                        .model = model,
                        .settings = settings,
                        .train = {{"lr", 3e-4}, {"min_lr", 3e-5}}});
    variants.push_back({.label = label + ", 1e-3", .model = model, .settings = settings});
    variants.push_back({.label = label + ", 3e-3",
                        .model = model,
                        .settings = settings,
                        .train = {{"lr", 3e-3}, {"min_lr", 3e-4}}});
  };
  for (const char* const model : {"gpt", "ddl", "mhc", "jpmhc", "edelta"}) {
    add(model, model, nlohmann::json::object());
  }
  add("no operator", "edelta", {{"branch", "none"}});
  return own_study(
      {.name = "learning-rate",
       .title = "Peak learning rates",
       .claim = "The paper trains every architecture with a peak learning rate of 10⁻³.",
       .method =
           "The five architectures, and edelta without an operator, with a third and three times "
           "that.",
       .variants = variants,
       .tasks = {"gyroscope", "near-pi-multi"},
       .plateau = true});
}

}  // namespace edelta::reproduce
