#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace edelta::base {
namespace {

// The vectors that come with Random123, the reference implementation.
TEST(Philox, MatchesTheKnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, EveryPartOfTheAddressCounts) {
  std::set<std::uint32_t> first;
  for (const std::uint64_t seed : {0ull, 1ull, 1ull << 32}) {
    for (const std::uint32_t stream : {0u, 1u}) {
      for (const std::uint64_t index : {0ull, 1ull, 1ull << 32}) {
        first.insert(RandomStream(seed, static_cast<Stream>(stream), index).bits());
        EXPECT_EQ(RandomStream(seed, static_cast<Stream>(stream), index).bits(),
                  RandomStream(seed, static_cast<Stream>(stream), index).bits());
      }
    }
  }
  EXPECT_EQ(first.size(), 18u);
}

TEST(RandomStream, GoesOnToTheNextBlock) {
  RandomStream random(0, Stream::training_data, 0);
  for (const std::uint32_t block : {0u, 1u}) {
    for (const std::uint32_t word : philox4x32({block, 0, 0, 0}, {0, 0})) {
      EXPECT_EQ(random.bits(), word);
    }
  }
}

// The largest distance between the sample's distribution and `cdf`. For 100,000 samples it exceeds
// 0.0062 once in a thousand seeds; the seed is fixed.
template <class Cdf>
double distance(std::vector<double> sample, Cdf cdf) {
  std::sort(sample.begin(), sample.end());
  double largest = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double expected = cdf(sample[i]), n = static_cast<double>(sample.size());
    largest = std::max({largest, std::abs(expected - static_cast<double>(i) / n),
                        std::abs(expected - static_cast<double>(i + 1) / n)});
  }
  return largest;
}

TEST(RandomStream, UniformIsUniform) {
  RandomStream random(7, Stream::training_data, 0);
  std::vector<double> sample(100'000);
  for (double& value : sample) value = random.uniform();
  EXPECT_GE(*std::min_element(sample.begin(), sample.end()), 0);
  EXPECT_LT(*std::max_element(sample.begin(), sample.end()), 1);
  EXPECT_LT(distance(sample, [](double x) { return x; }), 0.0062);
}

TEST(RandomStream, NormalIsNormal) {
  RandomStream random(7, Stream::training_data, 0);
  std::vector<double> sample(100'000);
  for (double& value : sample) value = random.normal();
  EXPECT_LT(distance(sample, [](double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }), 0.0062);
  double neighbours = 0;
  for (std::size_t i = 0; i + 1 < sample.size(); ++i) neighbours += sample[i] * sample[i + 1];
  EXPECT_LT(std::abs(neighbours) / 1e5, 0.015);
}

TEST(RandomStream, BelowIsUniformAndWithinItsBound) {
  RandomStream random(7, Stream::training_data, 0);
  EXPECT_EQ(random.below(1), 0u);
  std::vector<int> count(7);
  for (int i = 0; i < 70'000; ++i) ++count.at(random.below(7));
  for (const int n : count) EXPECT_NEAR(n, 10'000, 400);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(random.below(0x80000001u), 0x80000001u);
}

}  // namespace
}  // namespace edelta::base
