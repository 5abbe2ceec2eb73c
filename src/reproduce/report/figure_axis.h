// The range and the tics of an axis, chosen from its data.
#pragma once

#include <string>
#include <vector>

namespace edelta::reproduce::report {

struct Tic {
  double position = 0;
  std::string label;  // gnuplot's enhanced text; empty: a minor tic
};

struct Axis {
  bool log = false;
  double low = 0, high = 1;
  std::vector<Tic> tics;
};

enum class Margin {
  none,    // the range ends where the data does, or at a zero close by
  small,   // room for marks
  ground,  // small, and a linear axis begins at zero
};

// Values that are not finite, or not positive on a logarithmic axis, count for nothing.
Axis fit_axis(const std::vector<double>& values, bool log, Margin margin);

}  // namespace edelta::reproduce::report
