// Figures of trained models.
#pragma once

#include "reproduce/experiment.h"
#include "reproduce/run_archive.h"

namespace edelta::reproduce {

// A logged quantity against the iteration: for each variant the mean over seeds with its range.
Panel curves_panel(RunArchive& archive, const TrainingTable& table, LoggedQuantity quantity,
                   const AxisTitle& y);
// Validation loss and gradient norm against the iteration.
Figure dynamics_figure(const Experiment& experiment, RunArchive& archive);
// That figure alone.
std::vector<Figure> dynamics_figures(const Experiment& experiment, RunArchive& archive);
// Bars, the paper's beside ours.
Figure final_losses_figure(const Experiment& experiment, RunArchive& archive);
// Those two.
std::vector<Figure> comparison_figures(const Experiment& experiment, RunArchive& archive);
// γ of every operator against the iteration, in one run: attention's solid, the MLP's dashed.
std::vector<Series> gate_series(const RunLog& log);
// The same of each variant.
Figure gates_figure(const Experiment& experiment, RunArchive& archive);
// Of those that have a gate, in the experiment's first table.
Figure first_gates_figure(const Experiment& experiment, RunArchive& archive);

}  // namespace edelta::reproduce
