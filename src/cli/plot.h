// Curves in the terminal.
#pragma once

#include <string>
#include <vector>

namespace edelta::cli {

struct PlottedCurve {
  std::string label;
  std::vector<double> x, y;  // of equal length
};

struct PlotOptions {
  int width = 80, height = 16;  // characters, without the legend
  bool colours = false;
  std::string x_label = {};
};

// In dots of braille characters, y logarithmic. Each curve ends in its letter, which the legend
// below explains. What is not finite, or y that is not positive, is left out; empty where nothing
// is left.
std::string plot_log(const std::vector<PlottedCurve>& curves, const PlotOptions& options);

}  // namespace edelta::cli
