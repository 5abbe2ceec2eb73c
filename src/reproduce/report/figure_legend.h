// Legends: drawn entry by entry, because gnuplot's own keys lie where it likes and cannot be shared
// by panels.
#pragma once

#include <string>
#include <vector>

#include "reproduce/report/panel_commands.h"

namespace edelta::reproduce::report {

class Legend {
 public:
  Legend() = default;
  // Of all the panel's series that have labels, in rows of at most `width` pixels, and of the
  // reference lines that have no room for theirs. Empty where the axes say it all.
  Legend(const DrawnPanel& panel, double width, double font);

  double height() const;

  // `top` and `centre` in pixels, upwards.
  std::string commands(const Canvas& canvas, double centre, double top) const;

  // Whether this legend explains everything that the other does, and alike.
  bool covers(const Legend& other) const;

 private:
  struct Entry {
    std::string label;
    SeriesStyle look;
    bool line = false, marks = false, box = false;
    double paleness = 0;

    bool operator==(const Entry&) const = default;
  };

  void arrange(double width);
  double row_height() const { return 1.45 * font_; }
  std::string sample(const Entry& entry, const Canvas& canvas, double x, double y) const;

  double font_ = 14;
  std::vector<Entry> entries_;
  // Left edges and rows of the entries; x from the legend's own left edge.
  std::vector<double> lefts_;
  std::vector<int> rows_;
  int row_count_ = 0;
  double width_ = 0;
};

}  // namespace edelta::reproduce::report
