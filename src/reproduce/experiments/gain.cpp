// What carries the gain: the published models, edelta without its regulariser's pull, operators
// that stay orthogonal, and the same model without any operator.
#include <fmt/format.h>

#include <algorithm>

#include "reproduce/curve.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"
#include "reproduce/operator_probes.h"
#include "reproduce/run_archive.h"
#include "reproduce/statistics.h"
#include "reproduce/training_figures.h"
#include "reproduce/training_tables.h"

namespace edelta::reproduce {
namespace {

std::vector<Table> gain_tables(const Experiment& experiment, RunArchive& archive) {
  std::vector<Table> all;
  for (const TrainingTable& training : experiment.trainings) {
    Table table = training_table(archive, training);
    add_product_errors(archive, training, table);
    all.push_back(std::move(table));
  }
  return all;
}

// The final losses of all variants side by side.
Panel losses_panel(RunArchive& archive, const TrainingTable& table) {
  Panel panel{
      .title = table.short_title(), .kind = PanelKind::bars, .y = {"final validation loss", true}};
  Curve losses;
  for (const Variant& variant : table.variants) {
    const auto result = statistics(final_losses(archive.finished(table, variant)));
    if (!result) continue;
    losses.x.push_back(static_cast<double>(losses.x.size()));
    losses.y.push_back(result->mean);
    losses.low.push_back(std::max(result->mean - result->std, result->mean / 10));
    losses.high.push_back(result->mean + result->std);
    panel.categories.push_back(variant.label);
  }
  if (panel.categories.empty()) return panel;
  panel.series = {series("here", "", LineStyle::solid, losses)};
  if (table.noise_floor) panel.reference_lines.push_back({*table.noise_floor, "noise floor"});
  return panel;
}

Figure gain_figure(const Experiment& experiment, RunArchive& archive) {
  std::vector<Panel> panels;
  for (const TrainingTable& table : experiment.trainings) {
    panels.push_back(losses_panel(archive, table));
  }
  return figure(
      "gain-losses", "What carries the gain?",
      "Final validation loss of the published models, of edelta with its gate changed, of "
      "its operators alone, and without any operator; with the standard deviation over "
      "seeds where there are several.",
      std::move(panels));
}

std::vector<Figure> gain_figures(const Experiment& experiment, RunArchive& archive) {
  return {gain_figure(experiment, archive), dynamics_figure(experiment, archive),
          first_gates_figure(experiment, archive)};
}

}  // namespace

Experiment gain_experiment() {
  const nlohmann::json& best = train::find_preset("best").settings;
  Experiment experiment = own_study(
      {.name = "gain",
       .title = "What carries the gain?",
       .claim =
           "The paper credits edelta's lower losses to its geometry: a rotation and a reflection, "
           "joined by a gate that a regulariser drives to a decision.",
       .method =
           "The same model with the regulariser off or kept to the gate, with operators that stay "
           "orthogonal on the way from one end to the other, with the rotation alone (as published "
           "it begins next to the identity, where its gradient is next to nothing; live, it turns "
           "from the start), and without any operator: then it is gpt with two linear maps, H_pre "
           "and H_post, around each sub-layer, which fold into their neighbours after training. "
           "jpmhc without its operator (α = 0) has its wide streams and their routes alone. The "
           "last two rows also have a learning rate that ends lower, and one of them a single map, "
           "before each MLP.",
       .variants = {{.label = "gpt", .model = "gpt"},
                    {.label = "jpmhc", .model = "jpmhc"},
                    jpmhc_without_operator(),
                    {.label = "edelta", .model = "edelta"},
                    edelta_with("λ = 0", {{"gate_reg_weight", 0}}),
                    edelta_with("penalty to the gate alone", {{"gate_gradient", "gate"}}),
                    edelta_with("penalty to the gate alone, causal",
                                {{"gate_gradient", "gate"}, {"pool", "prefix"}}),
                    edelta_with("geodesic", {{"blend", "geodesic"}}),
                    edelta_with("geodesic, causal", {{"blend", "geodesic"}, {"pool", "prefix"}}),
                    edelta_with("complex", {{"field", "complex"}}),
                    edelta_with("rotation alone", {{"branch", "cayley"}}),
                    edelta_with("rotation alone, live",
                                {{"branch", "cayley"}, {"operator_init", "live"}}),
                    edelta_with("fixed rotation", {{"branch", "cayley"}, {"generator", "fixed"}}),
                    edelta_with("no operator", {{"branch", "none"}}),
                    edelta_with("no operator, no H", {{"branch", "none"}, {"projections", "off"}}),
                    {.label = "one map, rate to 1e-5",
                     .model = "edelta",
                     .settings = {{"branch", "none"}, {"projections", "mlp-pre"}},
                     .train = {{"min_lr", 1e-5}}},
                    {.label = "preset best",
                     .model = best["model"]["model"],
                     .settings = best["model"],
                     .train = best["train"]}},
       .tasks = {"gyroscope", "stability", "near-pi", "near-pi-multi", "reversal"},
       .plateau = true});
  experiment.plan_seed = plan_probed_trainings;
  experiment.tables = gain_tables;
  experiment.figures = gain_figures;
  return experiment;
}

}  // namespace edelta::reproduce
