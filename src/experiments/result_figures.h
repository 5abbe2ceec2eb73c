// The data of the figures of results.json.
#pragma once

#include "experiments/result_cells.h"
#include "experiments/run_archive.h"

namespace edelta::experiments {

// All figures of an experiment that have something to show.
std::vector<Cell> result_figures(RunArchive& archive, const Experiment& experiment);

// The gate's regularisers and their slopes, computed.
Cell regulariser_figure();

// A point of a curve, and at most so many of them.
struct Curve {
  std::vector<double> x, y, low, high;
};
inline constexpr size_t kMostPoints = 200;
Curve thinned(const Curve& curve);

}  // namespace edelta::experiments
