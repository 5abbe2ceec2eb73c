#include "reproduce/report/figure_legend.h"

#include <fmt/format.h>

#include <algorithm>

#include "reproduce/report/gnuplot.h"
#include "reproduce/report/text_layout.h"

namespace edelta::reproduce::report {
namespace {

constexpr double kSample = 36, kSampleGap = 7, kEntryGap = 18, kTopGap = 6, kBottomGap = 6;

// A point in gnuplot's coordinates of the whole picture.
std::string at(const Canvas& canvas, double x, double y) {
  return fmt::format("screen {:.6f}, screen {:.6f}", x / canvas.width, y / canvas.height);
}

}  // namespace

Legend::Legend(const DrawnPanel& panel, double width, double font) : font_(font) {
  const bool bars = panel.kind == PanelKind::bars;
  for (size_t s = 0; s < panel.series.size(); ++s) {
    const DrawnSeries& series = panel.series[s];
    if (series.label.empty() || (bars && panel.series.size() == 1)) continue;
    Entry entry{series.label, series.look, panel.draws_line(series), panel.draws_marks(series),
                bars};
    if (bars && panel.coloured_by_category) {
      entry.look.colour = "#555555";
      entry.paleness = panel.paleness(s);
    }
    entries_.push_back(entry);
  }
  for (const ReferenceLine& line : panel.reference_lines) {
    if (bars && !line.label.empty()) entries_.push_back({line.label, kReferenceStyle, true});
  }
  arrange(width);
}

// One row as tight as it gets, or columns of equal width: as few as the number of rows allows, so
// that the last row is not nearly empty.
void Legend::arrange(double width) {
  if (entries_.empty()) return;
  std::vector<double> widths;
  double total = -kEntryGap, widest = 0;
  for (const Entry& entry : entries_) {
    widths.push_back(kSample + kSampleGap + text_width(entry.label, font_));
    total += widths.back() + kEntryGap;
    widest = std::max(widest, widths.back() + kEntryGap);
  }
  const int count = static_cast<int>(entries_.size());
  const int fitting =
      total <= width ? count : std::clamp(static_cast<int>((width + kEntryGap) / widest), 1, count);
  row_count_ = (count + fitting - 1) / fitting;
  const int columns = (count + row_count_ - 1) / row_count_;
  double next = 0;
  for (int i = 0; i < count; ++i) {
    rows_.push_back(i / columns);
    lefts_.push_back(row_count_ == 1 ? next : (i % columns) * widest);
    next += widths[static_cast<size_t>(i)] + kEntryGap;
    width_ = std::max(width_, lefts_.back() + widths[static_cast<size_t>(i)]);
  }
}

double Legend::height() const {
  return row_count_ == 0 ? 0 : kTopGap + row_count_ * row_height() + kBottomGap;
}

std::string Legend::commands(const Canvas& canvas, double centre, double top) const {
  std::string text;
  for (size_t i = 0; i < entries_.size(); ++i) {
    Entry entry = entries_[i];
    // The SVG terminal of gnuplot 5.4 misses a change of dashes alone.
    entry.look.width += 0.01 * static_cast<double>(i % 2);
    const double x = centre - width_ / 2 + lefts_[i];
    const double y = top - kTopGap - (rows_[i] + 0.5) * row_height();
    text += sample(entry, canvas, x, y);
    text += fmt::format("set label {} at {} left front noenhanced\n", gnuplot_quoted(entry.label),
                        at(canvas, x + kSample + kSampleGap, y));
  }
  return text;
}

std::string Legend::sample(const Entry& entry, const Canvas& canvas, double x, double y) const {
  std::string text;
  const SeriesStyle& look = entry.look;
  if (entry.box) {
    constexpr double kHalf = 5.5;
    text += fmt::format(
        "set object rectangle from {} to {} front fillcolor rgb '{}' fillstyle solid border rgb "
        "'#444444'\n",
        at(canvas, x + kSample / 3, y - kHalf), at(canvas, x + kSample, y + kHalf),
        lightened(look.colour, entry.paleness));
  }
  if (entry.line) {
    text += fmt::format(
        "set arrow from {} to {} nohead front linewidth {} dashtype {} linecolor rgb '{}'\n",
        at(canvas, x, y), at(canvas, x + kSample, y), look.width, look.dashes, look.colour);
  }
  if (entry.marks) {
    text += fmt::format(
        "set label '' at {} front point pointtype {} pointsize {} linewidth {} linecolor rgb "
        "'{}'\n",
        at(canvas, x + kSample / 2, y), look.mark, entry.line ? 0.65 : 0.9,
        entry.line ? look.width : 1.6, look.colour);
  }
  return text;
}

bool Legend::covers(const Legend& other) const {
  return std::all_of(other.entries_.begin(), other.entries_.end(), [&](const Entry& entry) {
    return std::find(entries_.begin(), entries_.end(), entry) != entries_.end();
  });
}

}  // namespace edelta::reproduce::report
