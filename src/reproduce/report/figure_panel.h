// One panel of a figure with everything chosen that the results leave open: looks, places, axes.
#pragma once

#include <string>
#include <vector>

#include "reproduce/figure.h"
#include "reproduce/report/figure_axis.h"
#include "reproduce/report/figure_style.h"

namespace edelta::reproduce::report {

// Its columns are of equal length; low and high may be empty.
struct DrawnSeries : Series {
  SeriesStyle look;
};

struct DrawnPanel {
  std::string title, x_label, y_label;
  PanelKind kind = PanelKind::lines;
  Axis x, y;
  std::vector<std::string> categories;
  std::vector<ReferenceLine> reference_lines;
  std::vector<DrawnSeries> series;

  // Bars whose categories are the architectures take their colours; the series then differ in
  // lightness.
  bool coloured_by_category = false;

  // The share of white in the bars of a series, where the colour stands for the category.
  double paleness(size_t series) const;

  bool draws_line(const DrawnSeries& one) const {
    return kind == PanelKind::lines && one.style != LineStyle::points;
  }
  bool draws_marks(const DrawnSeries& one) const;
};

// InputError for series whose columns differ in length.
DrawnPanel prepare_panel(const Panel& panel);

}  // namespace edelta::reproduce::report
