#include "reproduce/statistics.h"

#include <cmath>

namespace edelta::reproduce {

std::optional<Statistics> statistics(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  Statistics result{.n = values.size()};
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / n;
  for (const double value : values) result.std += std::pow(value - result.mean, 2);
  result.std = values.size() > 1 ? std::sqrt(result.std / (n - 1)) : 0;
  return result;
}

}  // namespace edelta::reproduce
