#include "reproduce/training_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reproduce/curve.h"
#include "reproduce/statistics.h"
#include "reproduce/training_tables.h"
#include "reproduce/wording.h"

namespace edelta::reproduce {
namespace {

// Variants of one model are told apart by their label, architectures by their colour.
std::string colour_of(const Variant& variant) {
  return variant.label == variant.model ? variant.model : "";
}

void add_noise_floor(const TrainingTable& table, Panel& panel) {
  if (table.noise_floor) panel.reference_lines.push_back({*table.noise_floor, "noise floor"});
}

// Bars of the paper's numbers and ours, each with its standard deviation.
Panel losses_panel(RunArchive& archive, const TrainingTable& table) {
  Panel panel{
      .title = table.short_title(), .kind = PanelKind::bars, .y = {"final validation loss", true}};
  Curve paper, ours;
  const auto add = [](Curve& curve, double mean, double std) {
    curve.x.push_back(static_cast<double>(curve.x.size()));
    curve.y.push_back(mean);
    curve.low.push_back(std::max(mean - std, mean / 10));  // a logarithmic axis has no 0
    curve.high.push_back(mean + std);
  };
  for (const Variant& variant : table.variants) {
    const auto result = statistics(final_losses(archive.finished(table, variant)));
    if (!result || !variant.paper) continue;
    panel.categories.push_back(variant.label);
    add(paper, variant.paper->mean, variant.paper->std.value_or(0));
    add(ours, result->mean, result->std);
  }
  if (panel.categories.empty()) return panel;
  panel.series = {series("paper", "", LineStyle::solid, paper),
                  series("here", "", LineStyle::solid, ours)};
  add_noise_floor(table, panel);
  return panel;
}

// In the first seed's run: a mean over seeds would show gates that decided differently as
// undecided.
Panel gates_panel(RunArchive& archive, const TrainingTable& table, const Variant& variant) {
  Panel panel{.title = table.short_title() + ", " + variant.label, .x = {"iteration"}, .y = {"γ"}};
  const auto runs = archive.finished(table, variant);
  if (runs.empty()) return panel;
  panel.series = gate_series(runs.front()->log);
  return panel;
}

}  // namespace

Panel curves_panel(RunArchive& archive, const TrainingTable& table, LoggedQuantity quantity,
                   const AxisTitle& y) {
  Panel panel{.title = table.short_title(), .x = {"iteration"}, .y = y};
  for (const Variant& variant : table.variants) {
    std::vector<std::map<double, double>> runs;
    for (const RunRecord* run : archive.finished(table, variant)) {
      runs.push_back(logged(run->log, quantity));
    }
    const Curve curve = over_runs(runs);
    if (curve.empty()) continue;
    panel.series.push_back(series(variant.label, colour_of(variant), LineStyle::solid, curve));
  }
  return panel;
}

std::vector<Series> gate_series(const RunLog& log) {
  std::vector<Curve> gates;
  for (const LoggedStep& step : log) {
    if (step.gamma.empty()) continue;
    gates.resize(step.gamma.size());
    for (size_t i = 0; i < gates.size(); ++i) {
      gates[i].x.push_back(static_cast<double>(step.iteration));
      gates[i].y.push_back(step.gamma[i]);
    }
  }
  std::vector<Series> all;
  for (size_t i = 0; i < gates.size(); ++i) {
    const bool attention = i % 2 == 0;
    all.push_back(series(fmt::format("{} {}", i / 2 + 1, attention ? "attn" : "MLP"), "",
                         attention ? LineStyle::solid : LineStyle::dashed, thinned(gates[i])));
  }
  return all;
}

namespace {

// How many finished runs there are of each variant that has any.
std::set<size_t> finished_counts(const Experiment& experiment, RunArchive& archive) {
  std::set<size_t> counts;
  for (const TrainingTable& table : experiment.trainings) {
    for (const Variant& variant : table.variants) {
      const size_t count = archive.finished(table, variant).size();
      if (count > 0) counts.insert(count);
    }
  }
  return counts;
}

}  // namespace

Figure dynamics_figure(const Experiment& experiment, RunArchive& archive) {
  std::vector<Panel> panels;
  for (const TrainingTable& table : experiment.trainings) {
    Panel losses = curves_panel(archive, table, &LoggedStep::val_loss, {"validation loss", true});
    add_noise_floor(table, losses);
    panels.push_back(losses);
    panels.push_back(
        curves_panel(archive, table, &LoggedStep::gradient_norm, {"gradient norm", true}));
  }
  return figure(experiment.name + "-dynamics", experiment.title + ": training dynamics",
                fmt::format("Validation loss and gradient norm before clipping: {}.",
                            over_seeds(finished_counts(experiment, archive),
                                       "from the smallest to the largest as a band")),
                std::move(panels));
}

std::vector<Figure> dynamics_figures(const Experiment& experiment, RunArchive& archive) {
  return {dynamics_figure(experiment, archive)};
}

Figure final_losses_figure(const Experiment& experiment, RunArchive& archive) {
  std::vector<Panel> panels;
  for (const TrainingTable& table : experiment.trainings) {
    panels.push_back(losses_panel(archive, table));
  }
  return figure(
      experiment.name + "-losses", experiment.title + ": final losses",
      fmt::format("Final validation loss: {}. The paper’s values beside it.",
                  over_seeds(finished_counts(experiment, archive), "with its standard deviation")),
      std::move(panels));
}

std::vector<Figure> comparison_figures(const Experiment& experiment, RunArchive& archive) {
  return {dynamics_figure(experiment, archive), final_losses_figure(experiment, archive)};
}

Figure gates_figure(const Experiment& experiment, RunArchive& archive) {
  std::vector<Panel> panels;
  for (const TrainingTable& table : experiment.trainings) {
    for (const Variant& variant : table.variants) {
      panels.push_back(gates_panel(archive, table, variant));
    }
  }
  return figure(
      experiment.name + "-gates", experiment.title + ": gates",
      "The gate γ of every operator, by layer, in the run of the first seed: 1 is rotation, "
      "0 reflection.",
      std::move(panels));
}

Figure first_gates_figure(const Experiment& experiment, RunArchive& archive) {
  Experiment gated = experiment;
  gated.trainings.resize(1);
  std::erase_if(gated.trainings.front().variants, [&](const Variant& variant) {
    const auto runs = archive.finished(experiment.trainings.front(), variant);
    return runs.empty() || gate_series(runs.front()->log).empty();
  });
  return gates_figure(gated, archive);
}

}  // namespace edelta::reproduce
