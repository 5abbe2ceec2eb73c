#include "reproduce/compare/comparison.h"
#include "reproduce/curve.h"
#include "reproduce/training_figures.h"

namespace edelta::reproduce {
namespace {

Panel curves_of(const Comparison& comparison, const std::string& title, LoggedQuantity quantity,
                bool logarithmic = true) {
  Panel panel{.title = title, .x = {"iteration"}, .y = {title, logarithmic}};
  for (const ComparedRun& run : comparison.runs) {
    const Curve curve = over_runs({logged(run.log, quantity)});
    if (curve.empty()) continue;
    panel.series.push_back(
        series(run.name, run.overview.config.model_name(), LineStyle::solid, curve));
  }
  return panel;
}

std::vector<Panel> gate_panels(const Comparison& comparison) {
  std::vector<Panel> panels;
  for (const ComparedRun& run : comparison.runs) {
    panels.push_back(
        {.title = run.name, .x = {"iteration"}, .y = {"γ"}, .series = gate_series(run.log)});
  }
  return panels;
}

}  // namespace

std::vector<Figure> figures_of(const Comparison& comparison) {
  std::vector<Figure> figures{
      figure("losses", "Losses", "Of the batches trained on, and of the whole validation split.",
             {curves_of(comparison, "training loss", &LoggedStep::train_loss),
              curves_of(comparison, "validation loss", &LoggedStep::val_loss)}),
      figure("solved", "Puzzles solved", "Share of the test puzzles.",
             {curves_of(comparison, "share solved", &LoggedStep::exact_accuracy,
                        /*logarithmic=*/false)}),
      figure("gradients", "Gradient norms", "Of all parameters together, before clipping.",
             {curves_of(comparison, "gradient norm", &LoggedStep::gradient_norm)}),
      figure("gates", "Gates",
             "γ of every operator, by layer: the mean over a batch. 1 is rotation, 0 reflection.",
             gate_panels(comparison))};
  std::erase_if(figures, [](const Figure& one) { return one.panels.empty(); });
  return figures;
}

}  // namespace edelta::reproduce
