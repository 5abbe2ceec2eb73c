// The header once more, in a namespace of its own and for the baseline instruction set.
#define EDELTA_ISA baseline
#include "kernels/isa/vector_exp.h"

#include "kernels/close.h"
#include "kernels/cpu.h"
#include "kernels/exp2_avx512.h"

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

void expect_exp2_of_negative(float (*exp2_of_negative)(float)) {
  for (float x = -125.9F; x <= 0; x += 0.00097F) {
    const double exact = std::exp2(static_cast<double>(x));
    ASSERT_LE(std::abs(exp2_of_negative(x) - exact), 1.2e-7 * exact) << x;
  }
  EXPECT_EQ(exp2_of_negative(0.0F), 1);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float x : {-126.0F, -126.4F, -130.0F, -149.0F, -1000.0F, -1e38F, -kInfinity}) {
    EXPECT_EQ(exp2_of_negative(x), 0) << x;
  }
  EXPECT_TRUE(std::isnan(exp2_of_negative(std::numeric_limits<float>::quiet_NaN())));
}

TEST(Exp2OfNegative, Baseline) { expect_exp2_of_negative(baseline::exp2_of_negative); }

TEST(Exp2OfNegative, Avx512) {
  if (isa_of_cpu() < Isa::avx512) GTEST_SKIP() << "this CPU has no AVX-512";
  expect_exp2_of_negative(exp2_of_negative_avx512);
}

}  // namespace
}  // namespace edelta::kernels
