// A number of the paper.
#pragma once

#include <optional>

namespace edelta::reproduce {

// Mean and, where the paper gives it, standard deviation over seeds.
struct PaperValue {
  double mean = 0;
  std::optional<double> std;
};

}  // namespace edelta::reproduce
