#include "cli/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace edelta::cli {
namespace {

constexpr int kLabelWidth = 8;  // of the y axis
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

char letter_of(size_t curve) { return kLetters[curve % kLetters.size()]; }

std::string coloured(const std::string& text, size_t curve, bool colours) {
  if (!colours) return text;
  constexpr std::array<int, 6> kColours{34, 31, 32, 35, 33, 36};
  return fmt::format("\033[{}m{}\033[0m", kColours[curve % kColours.size()], text);
}

struct Range {
  double low = INFINITY, high = -INFINITY;

  bool empty() const { return low > high; }
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void widen(double least) {
    const double missing = std::max(0.0, least - (high - low)) / 2;
    low -= missing;
    high += missing;
  }
  // 0 to last.
  int place(double value, int last) const {
    return static_cast<int>(std::lround((value - low) / (high - low) * last));
  }
  double value(double place, int last) const { return low + (high - low) * place / last; }
};

struct Point {
  double x, log_y;
};

std::vector<Point> drawable(const PlottedCurve& curve) {
  std::vector<Point> points;
  for (size_t i = 0; i < curve.y.size(); ++i) {
    if (std::isfinite(curve.x[i]) && std::isfinite(curve.y[i]) && curve.y[i] > 0) {
      points.push_back({curve.x[i], std::log10(curve.y[i])});
    }
  }
  return points;
}

// Characters, each of 2 × 4 dots, that know which curve was drawn in them last. Rows count from the
// top, dots too.
class Canvas {
 public:
  Canvas(int columns, int rows)
      : columns_(columns), rows_(rows), cells_(static_cast<size_t>(columns * rows)) {}

  int last_x() const { return 2 * columns_ - 1; }
  int last_y() const { return 4 * rows_ - 1; }

  void line(int x0, int y0, int x1, int y1, size_t curve) {
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= steps; ++i) {
      const double share = static_cast<double>(i) / steps;
      dot(static_cast<int>(std::lround(x0 + share * (x1 - x0))),
          static_cast<int>(std::lround(y0 + share * (y1 - y0))), curve);
    }
  }

  // In the first free place from that of the dot on: where curves end together their letters stand
  // side by side.
  void letter(int x, int y, size_t curve) {
    int column = x / 2 + 1;
    while (column < columns_ && cell(column, y / 4).letter) ++column;
    if (column < columns_) cell(column, y / 4) = {0, curve, letter_of(curve)};
  }

  std::string row(int row, bool colours) {
    std::string text;
    for (int column = 0; column < columns_; ++column) {
      const Cell& one = cell(column, row);
      if (one.letter) {
        text += coloured(std::string(1, one.letter), one.curve, colours);
      } else if (one.dots != 0) {
        text += coloured(braille(one.dots), one.curve, colours);
      } else {
        text += ' ';
      }
    }
    return text.substr(0, text.find_last_not_of(' ') + 1);
  }

 private:
  struct Cell {
    std::uint8_t dots = 0;
    size_t curve = 0;
    char letter = 0;
  };

  Cell& cell(int column, int row) { return cells_[static_cast<size_t>(row * columns_ + column)]; }

  void dot(int x, int y, size_t curve) {
    // Unicode numbers the dots down the left column, down the right, and then the lowest two.
    constexpr std::uint8_t kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    Cell& one = cell(x / 2, y / 4);
    one.dots |= kBits[y % 4][x % 2];
    one.curve = curve;
  }

  // U+2800 and the dots as bits, in UTF-8.
  static std::string braille(std::uint8_t dots) {
    return {'\xE2', static_cast<char>(0xA0 | dots >> 6), static_cast<char>(0x80 | (dots & 0x3F))};
  }

  int columns_, rows_;
  std::vector<Cell> cells_;
};

// Labels of the rows: the powers of ten, or the ends where there are fewer than two of them.
std::vector<std::string> row_labels(const Range& y, int rows) {
  std::vector<std::string> labels(static_cast<size_t>(rows));
  const auto row_of = [&](double log_y) {
    return static_cast<size_t>((4 * rows - 1 - y.place(log_y, 4 * rows - 1)) / 4);
  };
  const auto first = static_cast<int>(std::ceil(y.low)),
             last = static_cast<int>(std::floor(y.high));
  if (last > first) {
    for (int exponent = first; exponent <= last; ++exponent) {
      std::string& label = labels[row_of(exponent)];
      if (label.empty()) label = fmt::format("1e{}", exponent);
    }
    return labels;
  }
  for (const size_t row : {size_t{0}, labels.size() / 2, labels.size() - 1}) {
    const double middle = 4 * rows - 1 - (4 * static_cast<double>(row) + 1.5);
    labels[row] = fmt::format("{:.2e}", std::pow(10.0, y.value(middle, 4 * rows - 1)));
  }
  return labels;
}

std::string x_axis(const Range& x, int columns, const std::string& label) {
  const std::string left = fmt::format("{:g}", x.low), right = fmt::format("{:g}", x.high);
  const int gap = columns - static_cast<int>(left.size() + right.size() + label.size());
  std::string text(kLabelWidth + 2, ' ');
  text += left;
  text += std::string(static_cast<size_t>(std::max(1, gap / 2)), ' ') + label;
  return text + std::string(static_cast<size_t>(std::max(1, gap - gap / 2)), ' ') + right;
}

}  // namespace

std::string plot_log(const std::vector<PlottedCurve>& curves, const PlotOptions& options) {
  std::vector<std::vector<Point>> drawn;
  Range x, y;
  for (const PlottedCurve& curve : curves) {
    drawn.push_back(drawable(curve));
    for (const Point& point : drawn.back()) {
      x.add(point.x);
      y.add(point.log_y);
    }
  }
  if (x.empty()) return "";
  x.widen(1);
  y.widen(0.1);

  // Room at the right for the letters of curves that go to the end.
  const int letters = static_cast<int>(std::min<size_t>(curves.size(), 8));
  const int columns = std::max(10, options.width - kLabelWidth - 2);
  const int used = std::max(5, columns - letters);
  Canvas canvas(columns, options.height);
  for (size_t i = 0; i < drawn.size(); ++i) {
    const auto place = [&](const Point& point) {
      return std::pair(x.place(point.x, 2 * used - 1),
                       canvas.last_y() - y.place(point.log_y, canvas.last_y()));
    };
    for (size_t j = 0; j < drawn[i].size(); ++j) {
      const auto [x0, y0] = place(drawn[i][j == 0 ? 0 : j - 1]);
      const auto [x1, y1] = place(drawn[i][j]);
      canvas.line(x0, y0, x1, y1, i);
    }
  }
  // After the lines, which would hide them.
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i].empty()) continue;
    canvas.letter(x.place(drawn[i].back().x, 2 * used - 1),
                  canvas.last_y() - y.place(drawn[i].back().log_y, canvas.last_y()), i);
  }

  std::string text;
  const std::vector<std::string> labels = row_labels(y, options.height);
  for (int row = 0; row < options.height; ++row) {
    const std::string& label = labels[static_cast<size_t>(row)];
    text += fmt::format("{:>{}} {}{}\n", label, kLabelWidth, label.empty() ? "│" : "┤",
                        canvas.row(row, options.colours));
  }
  std::string rule;
  for (int i = 0; i < used; ++i) rule += "─";
  text += std::string(kLabelWidth + 1, ' ') + "└" + rule + "\n" + x_axis(x, used, options.x_label) +
          "\n";
  for (size_t i = 0; i < curves.size(); ++i) {
    text +=
        fmt::format("{}{} {}\n", std::string(kLabelWidth + 2, ' '),
                    coloured(std::string(1, letter_of(i)), i, options.colours), curves[i].label);
  }
  return text;
}

}  // namespace edelta::cli
