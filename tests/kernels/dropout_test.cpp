#include "kernels/dropout.h"

#include "kernels/close.h"

namespace edelta::kernels {
namespace {

// The vectors of the kernels find the factors that the definition, word by word, does.
TEST(Dropout, DropsWhatItsDefinitionDrops) {
  for (const int64_t tokens : {1, 7, 8, 97, 1000}) {
    for (const int64_t width : {1, 5, 16, 33, 129}) {
      const DropoutMask mask = dropout_mask(0.3, 0xFEDCBA9876543210, 5);
      const auto x = random_values(tokens * width, 1);
      std::vector<float> expected(tokens * width), of_channel(tokens);
      for (int64_t c = 0; c < width; ++c) {
        dropout_factors(mask, 0, c, tokens, of_channel.data());
        for (int64_t t = 0; t < tokens; ++t) {
          expected[t * width + c] = of_channel[t] * x[t * width + c];
        }
      }
      with_threads([&] {
        auto y = unwritten(tokens * width);
        drop_rows({tokens, width, mask, x.data(), y.data()});
        expect_same_bits(y, expected, "y");
      });
    }
  }
}

// A part of a batch drops what it drops in the whole, wherever it begins.
TEST(Dropout, PartsKeepTheirPlaces) {
  constexpr int64_t kTokens = 100, kWidth = 20;
  const DropoutMask mask = dropout_mask(0.4, 77, 3);
  const std::vector<float> x(kTokens * kWidth, 1);
  std::vector<float> whole(kTokens * kWidth);
  drop_rows({kTokens, kWidth, mask, x.data(), whole.data()});
  for (const int64_t first : {1, 8, 13, 96}) {
    DropoutMask part = mask;
    part.first_column = first;
    auto y = unwritten((kTokens - first) * kWidth);
    drop_rows({kTokens - first, kWidth, part, x.data(), y.data()});
    expect_same_bits(y, {whole.begin() + first * kWidth, whole.end()}, "y");
    std::vector<float> factors(kTokens), later(kTokens - first);
    DropoutMask plane = part;
    plane.first_plane = 4;
    dropout_factors(mask, 6, 9, kTokens, factors.data());
    dropout_factors(plane, 2, 9, kTokens - first, later.data());
    expect_same_bits(later, {factors.begin() + first, factors.end()}, "factors");
  }
}

TEST(Dropout, ProbabilityIsRoundedAndTheScaleWithIt) {
  EXPECT_FALSE(dropout_mask(0, 1, 2).drops());
  const DropoutMask half = dropout_mask(0.5, 1, 2);
  EXPECT_EQ(half.threshold, 1U << 15);
  EXPECT_EQ(half.scale, 2);
  EXPECT_EQ(dropout_mask(1 - 1e-9, 1, 2).threshold, 65535U) << "something is always kept";
}

}  // namespace
}  // namespace edelta::kernels
