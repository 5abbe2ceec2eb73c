#include "base/suggest.h"

#include <gtest/gtest.h>

namespace edelta::base {
namespace {

const std::vector<std::string> kCommands{"train", "eval", "rollout", "reproduce", "report", "data"};

TEST(Suggest, FindsOneSlip) {
  EXPECT_EQ(closest("evl", kCommands), "eval");      // missing
  EXPECT_EQ(closest("trainn", kCommands), "train");  // too many
  EXPECT_EQ(closest("trayn", kCommands), "train");   // replaced
  EXPECT_EQ(closest("tarin", kCommands), "train");   // swapped
  EXPECT_EQ(closest("DATA", kCommands), "data");
}

TEST(Suggest, LongWordsMayHaveMoreSlips) {
  EXPECT_EQ(closest("roluot", kCommands), "rollout");
  EXPECT_EQ(closest("rproduse", kCommands), "reproduce");
}

TEST(Suggest, AnotherWordIsNoSlip) {
  EXPECT_EQ(closest("walk", kCommands), "");
  EXPECT_EQ(closest("dota2", {"data"}), "");
  EXPECT_EQ(closest("", kCommands), "");
  EXPECT_EQ(closest("x", {"n", ""}), "");
  EXPECT_EQ(closest("train", {}), "");
  EXPECT_EQ(closest(std::string(1'000'000, 'a'), kCommands), "");
}

TEST(Suggest, TheNearestWinsAndTheEarlierOfTwo) {
  EXPECT_EQ(closest("streams", {"stream", "streams"}), "streams");
  EXPECT_EQ(closest("dat", {"data", "date"}), "data");
}

TEST(Suggest, CompletesABeginning) {
  EXPECT_EQ(closest("repro", kCommands), "reproduce");
  EXPECT_EQ(closest("rep", kCommands), "");  // reproduce or report?
  EXPECT_EQ(closest("tr", kCommands), "");
}

}  // namespace
}  // namespace edelta::base
