// One panel of a figure: what the results say about it, and gnuplot's commands that draw it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiments/report/figure_axis.h"
#include "experiments/report/figure_style.h"

namespace edelta::experiments::report {

struct Series {
  std::string label, line;  // line: solid, dashed, dotted or points
  SeriesStyle look;
  // Of equal length, NaN where there is no value; low and high may be empty.
  std::vector<double> x, y, low, high;
};

struct ReferenceLine {
  double y = 0;
  std::string label;
};

struct Panel {
  enum class Kind { lines, bars, points };

  std::string title, x_label, y_label;
  Kind kind = Kind::lines;
  Axis x, y;
  std::vector<std::string> categories;  // what x = 0, 1, 2... stand for; mostly none
  std::vector<ReferenceLine> reference_lines;
  std::vector<Series> series;

  // Bars whose categories are the architectures take their colours; the series then differ in
  // lightness.
  bool coloured_by_category = false;

  // The share of white in the bars of a series, where the colour stands for the category.
  double paleness(size_t series) const;

  bool draws_line(const Series& one) const { return kind == Kind::lines && one.line != "points"; }
  bool draws_marks(const Series& one) const;
};

Panel parse_panel(const nlohmann::ordered_json& panel);

// A rectangle in pixels, y upwards as gnuplot counts.
struct Frame {
  double left = 0, right = 0, bottom = 0, top = 0;
};

struct Canvas {
  double width = 0, height = 0;  // pixels
  double font = 14;
};

// Definitions of the data blocks, named after the number of the panel.
std::string panel_data(const Panel& panel, size_t number);

// Draws the panel's data inside `frame`, titles and labels around it, and what the commands
// `legend` set up.
std::string panel_commands(const Panel& panel, size_t number, const Canvas& canvas,
                           const Frame& frame, const std::string& legend);

// Pixels, around the frame, that titles, tics and labels take.
double height_above(const Panel& panel, double width, double font);
double height_below(const Panel& panel, double width, double font);

// Pixels; an estimate, as gnuplot itself makes one.
double text_width(const std::string& text, double font);

}  // namespace edelta::experiments::report
