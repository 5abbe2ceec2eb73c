// The data of curves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reproduce/figure.h"

namespace edelta::reproduce {

struct Curve {
  std::vector<double> x, y, low, high;  // low and high may be empty

  bool empty() const { return x.empty(); }
};

// At most so many points; the first and the last stay.
inline constexpr size_t kMostPoints = 200;
Curve thinned(const Curve& curve);

// The mean over runs, thinned, with the range from the smallest to the largest, where all runs have
// a value. Each run: x → y.
Curve over_runs(const std::vector<std::map<double, double>>& runs);

Series series(const std::string& label, const std::string& model, LineStyle style,
              const Curve& curve);

// Without the panels that have nothing to show.
Figure figure(const std::string& id, const std::string& title, const std::string& caption,
              std::vector<Panel> panels);

}  // namespace edelta::reproduce
