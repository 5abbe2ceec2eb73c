// Where what a projection leaves counts as nothing.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace edelta::ops {

// What is left of n float64 numbers counts as 0 up to this, relative to what was there.
inline double rounding_tolerance(int64_t n) {
  return 4 * std::numeric_limits<double>::epsilon() * std::sqrt(static_cast<double>(n));
}

}  // namespace edelta::ops
