// Learning rates at the peak and at the end, so that no architecture wins by the paper's single
// choice.
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"

namespace edelta::reproduce {
namespace {

struct Schedule {
  const char* label;
  double peak, end;
};
constexpr Schedule kPaper{"1e-3 → 1e-4", 1e-3, 1e-4};
// A third and three times the paper's, its end a tenth of its peak as there; and a lower end.
constexpr Schedule kOthers[] = {
    {"3e-4 → 3e-5", 3e-4, 3e-5}, {"3e-3 → 3e-4", 3e-3, 3e-4}, {"1e-3 → 1e-5", 1e-3, 1e-5}};

void add_schedules(const std::string& name, const std::string& model,
                   const nlohmann::json& settings, std::vector<Variant>& variants) {
  const auto labelled = [&](const Schedule& schedule) { return name + ", " + schedule.label; };
  variants.push_back({.label = labelled(kPaper), .model = model, .settings = settings});
  for (const Schedule& schedule : kOthers) {
    variants.push_back({.label = labelled(schedule),
                        .model = model,
                        .settings = settings,
                        .train = {{"lr", schedule.peak}, {"min_lr", schedule.end}}});
  }
}

}  // namespace

Experiment learning_rate_experiment() {
  std::vector<Variant> variants;
  for (const char* const model : {"gpt", "ddl", "mhc", "jpmhc", "edelta"}) {
    add_schedules(model, model, nlohmann::json::object(), variants);
  }
  add_schedules("no operator", "edelta", {{"branch", "none"}}, variants);
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
       .variants = variants,
       .tasks = {"gyroscope", "stability", "near-pi", "near-pi-multi"},
       .plateau = true});
}

}  // namespace edelta::reproduce
