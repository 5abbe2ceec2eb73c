// Figures of the results, drawn by gnuplot: one style for all of them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace edelta::experiments {

// The same figure three times: two panels a row, one panel a row for a narrow page, and the former
// as pixels, twice as dense.
struct RenderedFigure {
  std::string wide_svg;
  std::string narrow_svg;
  std::string png;
};

// Draws a figure object of the results: panels of lines, points or bars, whose series carry their
// data. An architecture has the same colour, dashes and marks in every figure. Failure when gnuplot
// is missing or refuses.
RenderedFigure render_figure(const nlohmann::ordered_json& figure);

}  // namespace edelta::experiments
