// A figure's data: panels of lines, bars or points.
#pragma once

#include <string>
#include <vector>

namespace edelta::reproduce {

enum class LineStyle { solid, dashed, dotted, points };
enum class PanelKind { lines, bars, points };

struct Series {
  std::string label;
  std::string model = {};  // an architecture, whose colour it has
  LineStyle style = LineStyle::solid;
  // Of equal length, NaN where there is no value; low and high may be empty, and x where it counts
  // from 0.
  std::vector<double> x = {}, y = {}, low = {}, high = {};
};

struct AxisTitle {
  std::string label = {};
  bool log = false;
};

struct ReferenceLine {
  double y = 0;
  std::string label;
};

struct Panel {
  std::string title;
  PanelKind kind = PanelKind::lines;
  AxisTitle x = {}, y = {};
  std::vector<Series> series = {};
  std::vector<std::string> categories = {};  // what x = 0, 1, 2... stand for; mostly none
  std::vector<ReferenceLine> reference_lines = {};
};

struct Figure {
  std::string id, title, caption;
  std::vector<Panel> panels;
};

}  // namespace edelta::reproduce
