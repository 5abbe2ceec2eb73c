#include "reproduce/curve.h"

#include <algorithm>

#include "reproduce/statistics.h"

namespace edelta::reproduce {

Curve thinned(const Curve& curve) {
  if (curve.x.size() <= kMostPoints) return curve;
  Curve out;
  const size_t last = curve.x.size() - 1;
  for (size_t i = 0; i < kMostPoints; ++i) {
    const size_t from = i * last / (kMostPoints - 1);
    out.x.push_back(curve.x[from]);
    out.y.push_back(curve.y[from]);
    if (!curve.low.empty()) out.low.push_back(curve.low[from]);
    if (!curve.high.empty()) out.high.push_back(curve.high[from]);
  }
  return out;
}

Curve over_runs(const std::vector<std::map<double, double>>& runs) {
  Curve curve;
  if (runs.empty()) return curve;
  for (const auto& [x, first] : runs.front()) {
    std::vector<double> values;
    for (const auto& run : runs) {
      if (const auto found = run.find(x); found != run.end()) values.push_back(found->second);
    }
    if (values.size() < runs.size()) continue;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    curve.x.push_back(x);
    curve.y.push_back(statistics(values)->mean);
    if (runs.size() > 1) {
      curve.low.push_back(*low);
      curve.high.push_back(*high);
    }
  }
  return thinned(curve);
}

Series series(const std::string& label, const std::string& model, LineStyle style,
              const Curve& curve) {
  return {.label = label,
          .model = model,
          .style = style,
          .x = curve.x,
          .y = curve.y,
          .low = curve.low,
          .high = curve.high};
}

Figure figure(const std::string& id, const std::string& title, const std::string& caption,
              std::vector<Panel> panels) {
  std::erase_if(panels, [](const Panel& panel) { return panel.series.empty(); });
  return {id, title, caption, std::move(panels)};
}

}  // namespace edelta::reproduce
