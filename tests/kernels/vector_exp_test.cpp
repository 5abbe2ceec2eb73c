// The header once more, in a namespace of its own and for the baseline instruction set.
#define EDELTA_ISA baseline
#include "kernels/isa/vector_exp.h"

#include "kernels/close.h"

namespace edelta::kernels {
namespace {

TEST(VectorExp, IsWithinTwoUnitsInTheLastPlace) {
  for (float x = -87.33F; x < 88.36F; x += 0.00097F) {
    const double exact = std::exp(static_cast<double>(x));
    const auto rounded = static_cast<float>(exact);
    const double unit = std::nextafter(rounded, std::numeric_limits<float>::infinity()) - rounded;
    ASSERT_LE(std::abs(baseline::vector_exp(x) - exact), 2 * unit) << x;
  }
}

TEST(VectorExp, Limits) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(baseline::vector_exp(0.0F), 1);
  EXPECT_EQ(baseline::vector_exp(-kInfinity), 0);
  EXPECT_EQ(baseline::vector_exp(-1000.0F), 0);
  EXPECT_EQ(baseline::vector_exp(kInfinity), kInfinity);
  EXPECT_EQ(baseline::vector_exp(1000.0F), kInfinity);
  EXPECT_TRUE(std::isnan(baseline::vector_exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Exp2OfNegative, IsWithinItsBound) {
  for (float x = -125.9F; x <= 0; x += 0.00097F) {
    const double exact = std::exp2(static_cast<double>(x));
    ASSERT_LE(std::abs(baseline::exp2_of_negative(x) - exact), 1.2e-7 * exact) << x;
  }
}

TEST(Exp2OfNegative, Limits) {
  EXPECT_EQ(baseline::exp2_of_negative(0.0F), 1);
  EXPECT_EQ(baseline::exp2_of_negative(-std::numeric_limits<float>::infinity()), 0);
  EXPECT_EQ(baseline::exp2_of_negative(-1000.0F), 0);
  EXPECT_TRUE(std::isnan(baseline::exp2_of_negative(std::numeric_limits<float>::quiet_NaN())));
}

}  // namespace
}  // namespace edelta::kernels
