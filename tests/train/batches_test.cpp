// The order of batches: a function of the seed, the iteration and the part, of nothing else.
#include <gtest/gtest.h>

#include <set>

#include "edelta/train/trainer.h"

namespace edelta::train {
namespace {

std::vector<int64_t> rows(const Protocol& protocol, int64_t iteration, int64_t part,
                          int64_t count = 1000) {
  const torch::Tensor chosen = batch_rows(protocol, iteration, part, count);
  return {chosen.data_ptr<int64_t>(), chosen.data_ptr<int64_t>() + chosen.numel()};
}

TEST(Batches, DependOnSeedIterationAndPartAlone) {
  const Protocol protocol;
  const auto first = rows(protocol, 3, 0);
  EXPECT_EQ(first.size(), 64);
  EXPECT_EQ(rows(protocol, 3, 0), first);
  EXPECT_NE(rows(protocol, 4, 0), first) << "a resumed run would see the same batch again";
  Protocol other = protocol;
  other.seed = 43;
  EXPECT_NE(rows(other, 3, 0), first);
  other = protocol;
  other.iterations = 17;
  other.lr = 1;
  EXPECT_EQ(rows(other, 3, 0), first) << "the schedule does not choose the batches";
}

TEST(Batches, PartsOfAStepNeverRepeatThoseOfAnother) {
  Protocol protocol;
  protocol.accumulate = 3;
  std::set<std::vector<int64_t>> seen;
  for (int64_t iteration = 0; iteration < 20; ++iteration) {
    for (int64_t part = 0; part < 3; ++part) seen.insert(rows(protocol, iteration, part));
  }
  EXPECT_EQ(seen.size(), 60);
}

TEST(Batches, HaveDropoutKeysOfTheirOwn) {
  Protocol protocol, other;
  protocol.accumulate = other.accumulate = 3;
  other.seed = 43;
  std::set<uint64_t> seen;
  for (int64_t iteration = 0; iteration < 20; ++iteration) {
    for (int64_t part = 0; part < 3; ++part) {
      seen.insert(dropout_key(protocol, iteration, part));
      seen.insert(dropout_key(other, iteration, part));
    }
  }
  EXPECT_EQ(seen.size(), 120);
  EXPECT_EQ(dropout_key(protocol, 3, 1), dropout_key(protocol, 3, 1));
}

TEST(Batches, AreUniformWithReplacement) {
  Protocol protocol;
  std::vector<int64_t> counts(10);
  bool repeats = false;
  for (int64_t iteration = 0; iteration < 200; ++iteration) {
    const auto chosen = rows(protocol, iteration, 0, 10);
    for (const int64_t row : chosen) ++counts.at(static_cast<size_t>(row));
    repeats = repeats || std::set(chosen.begin(), chosen.end()).size() < chosen.size();
  }
  EXPECT_TRUE(repeats);
  for (const int64_t count : counts) EXPECT_NEAR(count, 1280, 5 * 34) << "5 standard deviations";
}

// The rows that runs were trained with so far: another generator or stream would change every run.
TEST(Batches, AreThoseOfEarlierVersions) {
  Protocol protocol;
  protocol.batch = 4;
  EXPECT_EQ(rows(protocol, 0, 0), (std::vector<int64_t>{221, 383, 514, 507}));
  EXPECT_EQ(rows(protocol, 1999, 0), (std::vector<int64_t>{506, 276, 307, 165}));
}

}  // namespace
}  // namespace edelta::train
