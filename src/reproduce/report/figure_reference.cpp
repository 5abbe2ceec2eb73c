#include "reproduce/report/figure_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "reproduce/report/gnuplot.h"
#include "reproduce/report/text_layout.h"

namespace edelta::reproduce::report {
namespace {

// 0 at the beginning of the axis, 1 at its end.
double along(const Axis& axis, double value) {
  if (!axis.log) return (value - axis.low) / (axis.high - axis.low);
  return value > 0 ? std::log(value / axis.low) / std::log(axis.high / axis.low) : NAN;
}

struct Point {
  double x = 0, y = 0;
};

// Points on everything that is drawn, dense enough that no label fits between two of them.
std::vector<Point> inked(const DrawnPanel& panel) {
  std::vector<Point> points;
  const auto connect = [&](Point from, Point to) {
    constexpr int kSteps = 16;
    for (int i = 0; i <= kSteps; ++i) {
      const double share = static_cast<double>(i) / kSteps;
      points.push_back({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)});
    }
  };
  for (const DrawnSeries& series : panel.series) {
    for (size_t i = 0; i < series.y.size(); ++i) {
      const Point here{along(panel.x, series.x[i]), along(panel.y, series.y[i])};
      if (i > 0 && panel.draws_line(series)) {
        connect({along(panel.x, series.x[i - 1]), along(panel.y, series.y[i - 1])}, here);
      } else {
        points.push_back(here);
      }
    }
  }
  return points;
}

// A place for a label along its line: where it begins, as a share of what is free, and which side.
struct Place {
  const char* alignment;
  double start;
  bool above;
};
constexpr std::array<Place, 6> kPlaces{{{"right", 1, true},
                                        {"left", 0, true},
                                        {"center", 0.5, true},
                                        {"right", 1, false},
                                        {"left", 0, false},
                                        {"center", 0.5, false}}};
constexpr double kEdge = 0.015;  // between the label and the end of the axis

// The first of the places with the least ink on it.
Place choose_place(const std::vector<Point>& ink, double y, double width, double height) {
  const auto covered = [&](const Place& place) {
    const double left = kEdge + place.start * (1 - 2 * kEdge - width);
    const double bottom = place.above ? y : y - height;
    return std::count_if(ink.begin(), ink.end(), [&](const Point& point) {
      return point.x > left && point.x < left + width && point.y > bottom &&
             point.y < bottom + height;
    });
  };
  return *std::min_element(kPlaces.begin(), kPlaces.end(),
                           [&](const Place& a, const Place& b) { return covered(a) < covered(b); });
}

}  // namespace

std::string reference_commands(const DrawnPanel& panel, const Frame& frame, double font) {
  const std::vector<Point> ink = inked(panel);
  const double small = font - 2;
  std::string commands;
  for (const ReferenceLine& line : panel.reference_lines) {
    commands += fmt::format(
        "set arrow from graph 0, first {0:.9g} to graph 1, first {0:.9g} nohead linewidth {1} "
        "dashtype {2} linecolor rgb '{3}' {4}\n",
        line.y, kReferenceStyle.width, kReferenceStyle.dashes, kReferenceStyle.colour,
        panel.kind == PanelKind::bars ? "front" : "back");
    if (panel.kind == PanelKind::bars) continue;  // bars leave no room: the legend has it
    const Place place = choose_place(ink, along(panel.y, line.y),
                                     text_width(line.label, small) / (frame.right - frame.left),
                                     1.2 * font / (frame.top - frame.bottom));
    commands += fmt::format(
        "set label {} at graph {:.4f}, first {:.9g} {} offset 0,{} front noenhanced textcolor rgb "
        "'#444444' font ',{}'\n",
        gnuplot_quoted(line.label), kEdge + place.start * (1 - 2 * kEdge), line.y, place.alignment,
        place.above ? 0.5 : -0.55, small);
  }
  return commands;
}

}  // namespace edelta::reproduce::report
