// Figures of the results, drawn by gnuplot: one style for all of them.
#pragma once

#include <string>

#include "reproduce/figure.h"

namespace edelta::reproduce::report {

// The same figure three times: two panels a row, one panel a row for a narrow page, and the former
// as pixels, twice as dense. The first two turn dark where the reader prefers that.
struct RenderedFigure {
  std::string wide_svg;
  std::string narrow_svg;
  std::string png;
};

// An architecture has the same colour, dashes and marks in every figure. InputError for a figure
// that cannot be drawn, Failure when gnuplot is missing or refuses.
RenderedFigure render_figure(const Figure& figure);

}  // namespace edelta::reproduce::report
