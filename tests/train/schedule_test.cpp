#include "edelta/train/schedule.h"

#include <gtest/gtest.h>

namespace edelta::train {
namespace {

TEST(Schedule, RisesFromZeroAndFallsAsHalfACosine) {
  const Protocol protocol;  // the paper's: 2000 iterations, 100 of warm-up, 1e-3 → 1e-4
  EXPECT_EQ(learning_rate(protocol, 0), 0);
  EXPECT_DOUBLE_EQ(learning_rate(protocol, 50), 5e-4);
  EXPECT_DOUBLE_EQ(learning_rate(protocol, 100), 1e-3);
  EXPECT_NEAR(learning_rate(protocol, 1050), 5.5e-4, 1e-15);  // half-way: the mean of both ends
  EXPECT_NEAR(learning_rate(protocol, 2000), 1e-4, 1e-15);
  for (int64_t i = 101; i < 2000; ++i) {
    ASSERT_LT(learning_rate(protocol, i), learning_rate(protocol, i - 1)) << i;
  }
}

TEST(Schedule, BeginsAtThePeakWithoutWarmUp) {
  Protocol protocol;
  protocol.warmup = 0;
  EXPECT_DOUBLE_EQ(learning_rate(protocol, 0), protocol.lr);
}

}  // namespace
}  // namespace edelta::train
