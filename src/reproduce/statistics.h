// Numbers over seeds.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace edelta::reproduce {

// Mean and sample standard deviation.
struct Statistics {
  double mean = 0, std = 0;
  size_t n = 0;
};
// Nothing without values.
std::optional<Statistics> statistics(const std::vector<double>& values);

}  // namespace edelta::reproduce
