#include "reproduce/report/panel_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "reproduce/report/figure_reference.h"
#include "reproduce/report/gnuplot.h"
#include "reproduce/report/text_layout.h"

namespace edelta::reproduce::report {
namespace {

std::string number(double value) { return fmt::format("{:.9g}", value); }

// A row of the data block: x, y, low, high, colour. Empty, which interrupts a line, where there is
// nothing to draw.
std::string data_row(const DrawnPanel& panel, const DrawnSeries& series, size_t i) {
  const auto drawable = [](double value, bool log) {
    return std::isfinite(value) && (!log || value > 0);
  };
  if (!drawable(series.x[i], panel.x.log) || !drawable(series.y[i], panel.y.log)) return "\n";
  const auto bound = [&](const std::vector<double>& column) {
    if (column.empty() || std::isnan(column[i])) return series.y[i];
    return panel.y.log && column[i] <= 0 ? panel.y.low : column[i];
  };
  std::string colour = series.look.colour;
  if (panel.coloured_by_category) colour = architecture_style(panel.categories.at(i)).colour;
  return fmt::format("{} {} {} {} {}\n", number(series.x[i]), number(series.y[i]),
                     number(bound(series.low)), number(bound(series.high)),
                     std::stoi(colour.substr(1), nullptr, 16));
}

using Elements = std::vector<std::string>;

// Vectors, because gnuplot's own error bars leave a hole in the middle.
std::string error_bars(const std::string& data, const std::string& colour) {
  return fmt::format(
      "{} using ($4>$3 ? $1 : NaN):3:(0):($4-$3) with vectors heads size graph 0.008,90 linewidth "
      "1.4 linecolor rgb "
      "'{}'",
      data, colour);
}

Elements bar_elements(const DrawnPanel& panel, const std::string& data, size_t s) {
  const DrawnSeries& series = panel.series[s];
  const double width = 0.92 * kClusterWidth / static_cast<double>(panel.series.size());
  // A fill density below 1 mixes the colour with white.
  const double density = panel.coloured_by_category ? 1 - panel.paleness(s) : 1;
  Elements elements{fmt::format(
      "{} using 1:2:({}):5 with boxes fillstyle solid {:.2f} border rgb '#444444' linecolor rgb "
      "variable",
      data, number(width), density)};
  if (!series.low.empty()) {
    elements.push_back(error_bars(data, "#222222"));
  }
  return elements;
}

Elements point_elements(const DrawnSeries& series, const std::string& data) {
  const std::string look =
      fmt::format("linecolor rgb '{}' pointtype {} pointsize 0.9 linewidth 1.6", series.look.colour,
                  series.look.mark);
  Elements elements;
  if (!series.low.empty()) {
    elements.push_back(error_bars(data, series.look.colour));
  }
  elements.push_back(fmt::format("{} using 1:2 with points {}", data, look));
  return elements;
}

Elements line_elements(const DrawnPanel& panel, const DrawnSeries& series,
                       const std::string& data) {
  constexpr size_t kMarksWanted = 9;
  const std::string look = fmt::format("linewidth {} linecolor rgb '{}' dashtype {}",
                                       series.look.width, series.look.colour, series.look.dashes);
  if (!panel.draws_marks(series)) return {fmt::format("{} using 1:2 with lines {}", data, look)};
  return {fmt::format(
      "{} using 1:2 with linespoints {} pointtype {} pointsize 0.65 pointinterval {}", data, look,
      series.look.mark, std::max<size_t>(1, series.y.size() / kMarksWanted))};
}

std::string block_name(size_t panel, size_t series) {
  return fmt::format("$p{}s{}", panel, series);
}

// Bands lie below every line.
Elements all_elements(const DrawnPanel& panel, size_t number) {
  Elements elements;
  const auto append = [&](const Elements& more) {
    elements.insert(elements.end(), more.begin(), more.end());
  };
  for (size_t s = 0; s < panel.series.size(); ++s) {
    const DrawnSeries& series = panel.series[s];
    if (series.low.empty() || !panel.draws_line(series)) continue;
    elements.push_back(
        fmt::format("{} using 1:3:4 with filledcurves fillcolor rgb '{}' fillstyle transparent "
                    "solid 0.18 noborder",
                    block_name(number, s), series.look.colour));
  }
  for (size_t s = 0; s < panel.series.size(); ++s) {
    const DrawnSeries& series = panel.series[s];
    const std::string data = block_name(number, s);
    if (panel.kind == PanelKind::bars) {
      append(bar_elements(panel, data, s));
    } else if (panel.draws_line(series)) {
      append(line_elements(panel, series, data));
    } else {
      append(point_elements(series, data));
    }
  }
  return elements;
}

std::string tics_command(const char* name, const Axis& axis) {
  std::string list;
  for (const Tic& tic : axis.tics) {
    list += fmt::format("{}'{}' {} {}", list.empty() ? "" : ", ", tic.label, number(tic.position),
                        tic.label.empty() ? 1 : 0);
  }
  return fmt::format("set {} ({})\n", name, list);
}

// Names of categories side by side, broken into lines, or turned where that is not enough.
struct CategoryLabels {
  std::vector<std::vector<std::string>> lines;
  bool turned = false;
  double font = 0, height = 0;
};

CategoryLabels fit_categories(const DrawnPanel& panel, double width, double font) {
  constexpr double kSineOfTurn = 0.58;  // 35°
  CategoryLabels labels{.lines = {}, .font = font - 1};
  const double room = width / (static_cast<double>(panel.categories.size()) + 0.2) - font / 2;
  double widest_line = 0, widest_name = 0;
  size_t most_lines = 0;
  for (const std::string& name : panel.categories) {
    labels.lines.push_back(wrapped(name, room, labels.font));
    most_lines = std::max(most_lines, labels.lines.back().size());
    for (const std::string& line : labels.lines.back()) {
      widest_line = std::max(widest_line, text_width(line, labels.font));
    }
    widest_name = std::max(widest_name, text_width(name, labels.font));
  }
  labels.turned = widest_line > room + font / 4 || most_lines > 3;
  if (labels.turned) {
    for (size_t i = 0; i < panel.categories.size(); ++i) labels.lines[i] = {panel.categories[i]};
    labels.height = kSineOfTurn * widest_name + labels.font;
  } else {
    labels.height = 1.25 * labels.font * static_cast<double>(most_lines) + 0.4 * font;
  }
  return labels;
}

std::string quoted_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += (text.empty() ? "" : ".\"\\n\".") + gnuplot_quoted(line);
  }
  return text.empty() ? "''" : text;
}

std::string category_tics(const CategoryLabels& labels) {
  std::string list;
  for (size_t i = 0; i < labels.lines.size(); ++i) {
    std::vector<std::string> lines = labels.lines[i];
    for (std::string& line : lines) {
      // Labels of tics are formats.
      for (size_t at = 0; (at = line.find('%', at)) != std::string::npos; at += 2) {
        line.insert(at, 1, '%');
      }
    }
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", quoted_lines(lines), i);
  }
  return fmt::format("set xtics noenhanced {} font ',{}' ({})\n",
                     labels.turned ? "rotate by 35 right" : "norotate", labels.font, list);
}

double tics_height(const DrawnPanel& panel, double width, double font) {
  return panel.categories.empty() ? 2.2 * font : fit_categories(panel, width, font).height + 8;
}

std::string axis_commands(const char* name, const Axis& axis) {
  return fmt::format("{}set {}range [{}:{}]\n",
                     axis.log ? fmt::format("set logscale {}\n", name) : "", name, number(axis.low),
                     number(axis.high));
}

// Labels of the axes stand at fixed places: gnuplot would put them beyond its estimate of how wide
// the tics' labels are, which may be beyond the edge.
std::string axis_labels(const DrawnPanel& panel, const Canvas& canvas, const Frame& frame) {
  constexpr double kLeftOfAxis = 66;
  const double below = tics_height(panel, frame.right - frame.left, canvas.font);
  std::string text;
  if (!panel.x_label.empty()) {
    text += fmt::format("set label {} at graph 0.5, screen {} center noenhanced\n",
                        gnuplot_quoted(panel.x_label),
                        number((frame.bottom - below - 0.7 * canvas.font) / canvas.height));
  }
  if (!panel.y_label.empty()) {
    text += fmt::format("set label {} at screen {}, graph 0.5 center rotate by 90 noenhanced\n",
                        gnuplot_quoted(panel.y_label),
                        number((frame.left - kLeftOfAxis) / canvas.width));
  }
  return text;
}

std::string title_command(const DrawnPanel& panel, const Frame& frame, double font) {
  const auto lines = wrapped(panel.title, frame.right - frame.left, font);
  if (lines.empty()) return "";
  return fmt::format("set title {} noenhanced offset 0,-0.4\n", quoted_lines(lines));
}

std::string frame_commands(const Canvas& canvas, const Frame& frame) {
  return fmt::format(
      "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {}\nset tmargin "
      "at "
      "screen {}\n",
      number(frame.left / canvas.width), number(frame.right / canvas.width),
      number(frame.bottom / canvas.height), number(frame.top / canvas.height));
}

}  // namespace

std::string panel_data(const DrawnPanel& panel, size_t number) {
  std::string text;
  for (size_t s = 0; s < panel.series.size(); ++s) {
    const DrawnSeries& series = panel.series[s];
    text += block_name(number, s) + " << EOD\n";
    for (size_t i = 0; i < series.y.size(); ++i) text += data_row(panel, series, i);
    text += "EOD\n";
  }
  return text;
}

std::string panel_commands(const DrawnPanel& panel, size_t number, const Canvas& canvas,
                           const Frame& frame, const std::string& legend) {
  const double width = frame.right - frame.left;
  std::string text =
      "reset\n"
      "set encoding utf8\n"
      "set border 3 linewidth 1.1 linecolor rgb '#333333'\n"
      "set tics nomirror out scale 0.6,0.3 textcolor rgb '#222222'\n"
      "set grid ytics linecolor rgb '#dddddd' linewidth 1 dashtype 1\n"
      "set xtics offset 0,0.3\n"
      "unset key\n";
  text += frame_commands(canvas, frame) + title_command(panel, frame, canvas.font) +
          axis_commands("x", panel.x) + axis_commands("y", panel.y) +
          axis_labels(panel, canvas, frame) + tics_command("ytics", panel.y);
  text += panel.categories.empty() ? tics_command("xtics", panel.x)
                                   : category_tics(fit_categories(panel, width, canvas.font));
  text += reference_commands(panel, frame, canvas.font) + legend;
  const Elements elements = all_elements(panel, number);
  // Gnuplot draws no axes without anything to plot.
  if (elements.empty()) return text + "plot NaN\n";
  return text + fmt::format("plot {}\n", fmt::join(elements, ", \\\n  "));
}

double height_above(const DrawnPanel& panel, double width, double font) {
  return 16 + 1.4 * font * static_cast<double>(wrapped(panel.title, width, font).size());
}

double height_below(const DrawnPanel& panel, double width, double font) {
  return tics_height(panel, width, font) + (panel.x_label.empty() ? 0.4 : 1.6) * font;
}

}  // namespace edelta::reproduce::report
