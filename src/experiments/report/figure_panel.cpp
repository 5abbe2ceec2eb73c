#include "experiments/report/figure_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "edelta/error.h"
#include "experiments/report/figure_reference.h"
#include "experiments/report/gnuplot.h"

namespace edelta::experiments::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kClusterWidth = 0.8;  // of the space between categories

Panel::Kind parse_kind(const std::string& kind) {
  if (kind == "lines") return Panel::Kind::lines;
  if (kind == "bars") return Panel::Kind::bars;
  if (kind == "points") return Panel::Kind::points;
  throw InputError(fmt::format("a panel of kind {}; there are lines, bars and points", kind));
}

std::vector<double> numbers(const Json& object, const char* key) {
  std::vector<double> values;
  if (!object.contains(key) || object[key].is_null()) return values;
  for (const Json& value : object[key]) {
    values.push_back(value.is_number() ? value.get<double>() : NAN);
  }
  return values;
}

Series parse_series(const Json& json) {
  Series series{.label = json.value("label", ""),
                .line = json.value("style", "solid"),
                .look = {},
                .x = numbers(json, "x"),
                .y = numbers(json, "y"),
                .low = numbers(json, "low"),
                .high = numbers(json, "high")};
  const size_t count = series.y.size();
  for (size_t i = series.x.size(); i < count; ++i) series.x.push_back(static_cast<double>(i));
  if (series.x.size() != count || series.low.size() != series.high.size() ||
      (!series.low.empty() && series.low.size() != count)) {
    throw InputError(fmt::format("series {}: its columns differ in length", series.label));
  }
  return series;
}

void choose_looks(Panel& panel, const Json& series) {
  std::map<std::string, int> seen;
  int numbered = 0;
  for (size_t i = 0; i < panel.series.size(); ++i) {
    Series& one = panel.series[i];
    const std::string model = series[i].value("model", "");
    const bool broken = one.line == "dashed" || one.line == "dotted";
    if (is_architecture(model)) {
      one.look = architecture_style(model, seen[model + "/" + one.line]++);
    } else if (broken && i > 0) {
      one.look = panel.series[i - 1].look;  // a broken line belongs to the one before it
    } else {
      one.look = numbered_style(numbered++);
    }
    if (broken) one.look.dashes = one.line == "dashed" ? "(7,4)" : "(2,3)";
  }
}

// Bars of one category stand side by side around its position.
void spread_bars(Panel& panel) {
  const double width = kClusterWidth / static_cast<double>(panel.series.size());
  for (size_t s = 0; s < panel.series.size(); ++s) {
    Series& series = panel.series[s];
    const double shift =
        (static_cast<double>(s) - (static_cast<double>(panel.series.size()) - 1) / 2) * width;
    for (size_t i = 0; i < series.x.size(); ++i) series.x[i] = static_cast<double>(i) + shift;
  }
}

void fit_axes(Panel& panel, bool log_x, bool log_y) {
  const bool bars = panel.kind == Panel::Kind::bars;
  std::vector<double> x, y;
  for (const Series& series : panel.series) {
    x.insert(x.end(), series.x.begin(), series.x.end());
    for (const auto* column : {&series.y, &series.low, &series.high}) {
      y.insert(y.end(), column->begin(), column->end());
    }
  }
  for (const ReferenceLine& line : panel.reference_lines) y.push_back(line.y);
  if (panel.y_label == "γ") y.insert(y.end(), {0.0, 1.0});  // comparable at a glance
  panel.y = fit_axis(y, log_y, bars ? Margin::ground : Margin::small);
  if (panel.categories.empty()) {
    const bool marks = panel.kind == Panel::Kind::points || log_x;
    panel.x = fit_axis(x, log_x, marks ? Margin::small : Margin::none);
  } else {
    panel.x = {false, -0.6, static_cast<double>(panel.categories.size()) - 0.4, {}};
  }
}

// Broken after spaces and hyphens where it is wider than `width`.
std::vector<std::string> wrapped(const std::string& text, double width, double font) {
  std::vector<std::string> lines;
  std::string line;
  const auto trimmed = [](const std::string& text) {
    return text.substr(0, text.find_last_not_of(' ') + 1);
  };
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find_first_of(" -", start), text.size() - 1) + 1;
    const std::string word = text.substr(start, end - start);
    if (!line.empty() && text_width(trimmed(line + word), font) > width) {
      lines.push_back(trimmed(line));
      line.clear();
    }
    line += word;
    start = end;
  }
  if (!line.empty()) lines.push_back(trimmed(line));
  return lines;
}

std::string number(double value) { return fmt::format("{:.9g}", value); }

// A row of the data block: x, y, low, high, colour. Empty, which interrupts a line, where there is
// nothing to draw.
std::string data_row(const Panel& panel, const Series& series, size_t i) {
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

Elements bar_elements(const Panel& panel, const std::string& data, size_t s) {
  const Series& series = panel.series[s];
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

Elements point_elements(const Series& series, const std::string& data) {
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

Elements line_elements(const Panel& panel, const Series& series, const std::string& data) {
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
Elements all_elements(const Panel& panel, size_t number) {
  Elements elements;
  const auto append = [&](const Elements& more) {
    elements.insert(elements.end(), more.begin(), more.end());
  };
  for (size_t s = 0; s < panel.series.size(); ++s) {
    const Series& series = panel.series[s];
    if (series.low.empty() || !panel.draws_line(series)) continue;
    elements.push_back(
        fmt::format("{} using 1:3:4 with filledcurves fillcolor rgb '{}' fillstyle transparent "
                    "solid 0.18 noborder",
                    block_name(number, s), series.look.colour));
  }
  for (size_t s = 0; s < panel.series.size(); ++s) {
    const Series& series = panel.series[s];
    const std::string data = block_name(number, s);
    if (panel.kind == Panel::Kind::bars) {
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

CategoryLabels fit_categories(const Panel& panel, double width, double font) {
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

double tics_height(const Panel& panel, double width, double font) {
  return panel.categories.empty() ? 2.2 * font : fit_categories(panel, width, font).height + 8;
}

std::string axis_commands(const char* name, const Axis& axis) {
  return fmt::format("{}set {}range [{}:{}]\n",
                     axis.log ? fmt::format("set logscale {}\n", name) : "", name, number(axis.low),
                     number(axis.high));
}

// Labels of the axes stand at fixed places: gnuplot would put them beyond its estimate of how wide
// the tics' labels are, which may be beyond the edge.
std::string axis_labels(const Panel& panel, const Canvas& canvas, const Frame& frame) {
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

std::string title_command(const Panel& panel, const Frame& frame, double font) {
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

// The paper's bars are pale; ours in their full colour, further ones paler.
double Panel::paleness(size_t s) const {
  if (series[s].label == "paper") return 0.72;
  const bool paper_first = s > 0 && series[0].label == "paper";
  return std::min(0.35 * static_cast<double>(s - (paper_first ? 1 : 0)), 0.6);
}

// Overridden dashes do without marks: that is how a second line of an architecture differs.
bool Panel::draws_marks(const Series& one) const {
  if (kind == Kind::bars) return false;
  return !draws_line(one) || (one.line != "dashed" && one.line != "dotted");
}

Panel parse_panel(const Json& json) {
  Panel panel;
  panel.title = json.value("title", "");
  panel.kind = parse_kind(json.value("kind", "lines"));
  const Json x = json.value("x", Json::object()), y = json.value("y", Json::object());
  panel.x_label = x.value("label", "");
  panel.y_label = y.value("label", "");
  panel.categories = json.value("categories", std::vector<std::string>{});
  for (const Json& line : json.value("reference_lines", Json::array())) {
    panel.reference_lines.push_back({line.at("y").get<double>(), line.value("label", "")});
  }
  const Json& series = json.at("series");
  for (const Json& one : series) panel.series.push_back(parse_series(one));
  choose_looks(panel, series);
  if (panel.kind == Panel::Kind::bars) {
    panel.coloured_by_category =
        std::all_of(panel.categories.begin(), panel.categories.end(), is_architecture) &&
        std::none_of(series.begin(), series.end(),
                     [](const Json& one) { return one.contains("model"); });
    spread_bars(panel);
  }
  fit_axes(panel, x.value("log", false), y.value("log", false));
  return panel;
}

std::string panel_data(const Panel& panel, size_t number) {
  std::string text;
  for (size_t s = 0; s < panel.series.size(); ++s) {
    const Series& series = panel.series[s];
    text += block_name(number, s) + " << EOD\n";
    for (size_t i = 0; i < series.y.size(); ++i) text += data_row(panel, series, i);
    text += "EOD\n";
  }
  return text;
}

std::string panel_commands(const Panel& panel, size_t number, const Canvas& canvas,
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

double text_width(const std::string& text, double font) {
  const auto characters =
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return 0.53 * font * static_cast<double>(characters);
}

double height_above(const Panel& panel, double width, double font) {
  return 16 + 1.4 * font * static_cast<double>(wrapped(panel.title, width, font).size());
}

double height_below(const Panel& panel, double width, double font) {
  return tics_height(panel, width, font) + (panel.x_label.empty() ? 0.4 : 1.6) * font;
}

}  // namespace edelta::experiments::report
