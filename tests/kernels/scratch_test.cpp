#include "kernels/scratch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace edelta::kernels {
namespace {

TEST(Scratch, PiecesAreAlignedAndDisjoint) {
  const Scratch outer_guard;
  Scratch scratch;
  float* small = scratch.floats(3);
  float* large = scratch.floats(5'000'000);
  float* next = scratch.floats(17);
  for (const float* piece : {small, large, next}) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % 64, 0);
  }
  std::fill_n(small, 3, 1.0F);
  std::fill_n(large, 5'000'000, 2.0F);
  std::fill_n(next, 17, 3.0F);
  EXPECT_EQ(std::count(small, small + 3, 1.0F), 3);
  EXPECT_EQ(std::count(large, large + 5'000'000, 2.0F), 5'000'000);
}

TEST(Scratch, MemoryIsReusedAndInnerScopesKeepOuterPieces) {
  float* first = nullptr;
  for (int round = 0; round < 3; ++round) {
    Scratch scratch;
    float* outer = scratch.floats(1000);
    outer[999] = 7;
    {
      Scratch inner;
      std::fill_n(inner.floats(2'000'000), 2'000'000, 0.0F);
    }
    EXPECT_EQ(outer[999], 7);
    if (first == nullptr) first = outer;
    EXPECT_EQ(outer, first);
  }
}

}  // namespace
}  // namespace edelta::kernels
