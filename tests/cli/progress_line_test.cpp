#include "cli/progress_line.h"

#include <gtest/gtest.h>

namespace edelta::cli {
namespace {

const std::vector<std::string> kParts{"120/500", "loss 1.234e-03", "0:12 left", "γ 0.52"};

TEST(ProgressLine, ShowsEverythingWhereThereIsRoom) {
  EXPECT_EQ(fitted(kParts, 80), "120/500  loss 1.234e-03  0:12 left  γ 0.52");
  EXPECT_EQ(fitted(kParts, 42), "120/500  loss 1.234e-03  0:12 left  γ 0.52");
}

TEST(ProgressLine, LeavesOutWholeParts) {
  EXPECT_EQ(fitted(kParts, 41), "120/500  loss 1.234e-03  0:12 left");
  EXPECT_EQ(fitted(kParts, 19), "120/500  0:12 left");
  EXPECT_EQ(fitted(kParts, 15), "120/500  γ 0.52");
}

TEST(ProgressLine, CutsTheFirstByWholeCharactersAtLast) {
  EXPECT_EQ(fitted(kParts, 3), "120");
  EXPECT_EQ(fitted({"γγγ"}, 2), "γγ");
  EXPECT_EQ(fitted(kParts, 0), "");
  EXPECT_EQ(fitted({}, 80), "");
}

}  // namespace
}  // namespace edelta::cli
