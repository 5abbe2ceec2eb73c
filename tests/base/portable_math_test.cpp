#include "base/portable_math.h"

#include <gtest/gtest.h>

#include <cmath>

namespace edelta::base {
namespace {

TEST(PortableMath, LogAgreesWithTheLibrary) {
  EXPECT_EQ(portable_log(1), 0);
  for (int exponent = -1000; exponent <= 1000; exponent += 7) {
    for (double mantissa = 0.5; mantissa < 1; mantissa += 0.001) {
      const double x = std::ldexp(mantissa, exponent);
      ASSERT_NEAR(portable_log(x), std::log(x), 1e-15 * std::max(1.0, std::abs(std::log(x)))) << x;
    }
  }
  // Near 1 the result is small, and so must be the error.
  for (double gap = 0.5; gap > 1e-15; gap /= 2) {
    ASSERT_NEAR(portable_log(1 - gap), std::log(1 - gap), 1e-15 * gap) << gap;
  }
}

TEST(PortableMath, SinCosAgreeWithTheLibrary) {
  for (double x = -7; x <= 7; x += 0.0001) {
    const SinCos result = portable_sincos(x);
    ASSERT_NEAR(result.sin, std::sin(x), 1e-15) << x;
    ASSERT_NEAR(result.cos, std::cos(x), 1e-15) << x;
  }
}

}  // namespace
}  // namespace edelta::base
