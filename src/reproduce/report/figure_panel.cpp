#include "reproduce/report/figure_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "edelta/base/error.h"
#include "reproduce/report/panel_commands.h"

namespace edelta::reproduce::report {
namespace {

bool is_broken(LineStyle style) { return style == LineStyle::dashed || style == LineStyle::dotted; }

DrawnSeries prepare_series(const Series& data) {
  DrawnSeries series{data, {}};
  const size_t count = series.y.size();
  for (size_t i = series.x.size(); i < count; ++i) series.x.push_back(static_cast<double>(i));
  if (series.x.size() != count || series.low.size() != series.high.size() ||
      (!series.low.empty() && series.low.size() != count)) {
    throw InputError(fmt::format("series {}: its columns differ in length", series.label));
  }
  return series;
}

void choose_looks(std::vector<DrawnSeries>& series) {
  std::map<std::pair<std::string, LineStyle>, int> seen;
  int numbered = 0;
  for (size_t i = 0; i < series.size(); ++i) {
    DrawnSeries& one = series[i];
    if (is_architecture(one.model)) {
      one.look = architecture_style(one.model, seen[{one.model, one.style}]++);
    } else if (is_broken(one.style) && i > 0) {
      one.look = series[i - 1].look;  // a broken line belongs to the one before it
    } else {
      one.look = numbered_style(numbered++);
    }
    if (is_broken(one.style)) one.look.dashes = one.style == LineStyle::dashed ? "(7,4)" : "(2,3)";
  }
}

// Bars of one category stand side by side around its position.
void spread_bars(DrawnPanel& panel) {
  const double width = kClusterWidth / static_cast<double>(panel.series.size());
  for (size_t s = 0; s < panel.series.size(); ++s) {
    DrawnSeries& series = panel.series[s];
    const double shift =
        (static_cast<double>(s) - (static_cast<double>(panel.series.size()) - 1) / 2) * width;
    for (size_t i = 0; i < series.x.size(); ++i) series.x[i] = static_cast<double>(i) + shift;
  }
}

void fit_axes(DrawnPanel& panel, bool log_x, bool log_y) {
  const bool bars = panel.kind == PanelKind::bars;
  std::vector<double> x, y;
  for (const DrawnSeries& series : panel.series) {
    x.insert(x.end(), series.x.begin(), series.x.end());
    for (const auto* column : {&series.y, &series.low, &series.high}) {
      y.insert(y.end(), column->begin(), column->end());
    }
  }
  for (const ReferenceLine& line : panel.reference_lines) y.push_back(line.y);
  if (panel.y_label == "γ") y.insert(y.end(), {0.0, 1.0});  // comparable at a glance
  panel.y = fit_axis(y, log_y, bars ? Margin::ground : Margin::small);
  if (panel.categories.empty()) {
    const bool marks = panel.kind == PanelKind::points || log_x;
    panel.x = fit_axis(x, log_x, marks ? Margin::small : Margin::none);
  } else {
    panel.x = {false, -0.6, static_cast<double>(panel.categories.size()) - 0.4, {}};
  }
}

}  // namespace

// The paper's bars are pale; ours in their full colour, further ones paler.
double DrawnPanel::paleness(size_t s) const {
  if (series[s].label == "paper") return 0.72;
  const bool paper_first = s > 0 && series[0].label == "paper";
  return std::min(0.35 * static_cast<double>(s - (paper_first ? 1 : 0)), 0.6);
}

// Overridden dashes do without marks: that is how a second line of an architecture differs.
bool DrawnPanel::draws_marks(const DrawnSeries& one) const {
  if (kind == PanelKind::bars) return false;
  return !draws_line(one) || !is_broken(one.style);
}

DrawnPanel prepare_panel(const Panel& data) {
  DrawnPanel panel{.title = data.title,
                   .x_label = data.x.label,
                   .y_label = data.y.label,
                   .kind = data.kind,
                   .x = {},
                   .y = {},
                   .categories = data.categories,
                   .reference_lines = data.reference_lines,
                   .series = {}};
  for (const Series& one : data.series) panel.series.push_back(prepare_series(one));
  choose_looks(panel.series);
  if (panel.kind == PanelKind::bars) {
    panel.coloured_by_category =
        std::all_of(panel.categories.begin(), panel.categories.end(), is_architecture) &&
        std::all_of(data.series.begin(), data.series.end(),
                    [](const Series& one) { return one.model.empty(); });
    spread_bars(panel);
  }
  fit_axes(panel, data.x.log, data.y.log);
  return panel;
}

}  // namespace edelta::reproduce::report
