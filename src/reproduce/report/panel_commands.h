// Gnuplot's commands that draw a panel.
#pragma once

#include <string>

#include "reproduce/report/figure_panel.h"

namespace edelta::reproduce::report {

// Of the space between categories, what their bars take.
inline constexpr double kClusterWidth = 0.8;

// A rectangle in pixels, y upwards as gnuplot counts.
struct Frame {
  double left = 0, right = 0, bottom = 0, top = 0;
};

struct Canvas {
  double width = 0, height = 0;  // pixels
  double font = 14;
};

// Definitions of the data blocks, named after the number of the panel.
std::string panel_data(const DrawnPanel& panel, size_t number);

// Draws the panel's data inside `frame`, titles and labels around it, and what the commands
// `legend` set up.
std::string panel_commands(const DrawnPanel& panel, size_t number, const Canvas& canvas,
                           const Frame& frame, const std::string& legend);

// Pixels, around the frame, that titles, tics and labels take.
double height_above(const DrawnPanel& panel, double width, double font);
double height_below(const DrawnPanel& panel, double width, double font);

}  // namespace edelta::reproduce::report
