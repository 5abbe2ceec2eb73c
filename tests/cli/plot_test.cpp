#include "cli/plot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace edelta::cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

long characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

PlottedCurve decay(const std::string& label, double from, double to) {
  PlottedCurve curve{label, {}, {}};
  for (int i = 0; i <= 10; ++i) {
    curve.x.push_back(100 * i);
    curve.y.push_back(from * std::pow(to / from, i / 10.0));
  }
  return curve;
}

TEST(Plot, FitsItsWidthAndNamesItsCurves) {
  for (const int width : {40, 80, 133}) {
    const auto lines = lines_of(plot_log({decay("one", 1, 1e-4), decay("two", 1, 1e-2)},
                                         {.width = width, .height = 12, .x_label = "iteration"}));
    ASSERT_EQ(lines.size(), 12u + 2 + 2);
    for (const std::string& line : lines) EXPECT_LE(characters(line), width) << line;
    EXPECT_NE(lines[0].find("1e0"), std::string::npos);
    EXPECT_NE(lines[11].find("1e-4"), std::string::npos);
    EXPECT_TRUE(lines[11].ends_with("a")) << "the lowest curve ends in the lowest row";
    EXPECT_TRUE(lines[6].ends_with("b") || lines[5].ends_with("b"));
    EXPECT_NE(lines[13].find("iteration"), std::string::npos);
    EXPECT_TRUE(lines[13].ends_with("1000"));
    EXPECT_TRUE(lines[14].ends_with("a one"));
    EXPECT_TRUE(lines[15].ends_with("b two"));
  }
}

TEST(Plot, DrawsAStraightLineOnItsLogarithmicAxis) {
  const auto lines = lines_of(plot_log({decay("", 1, 1e-4)}, {.width = 51, .height = 10}));
  // 40 columns are drawn in, ten rows: each row takes four of them, from the left to the right.
  long last = -1;
  for (size_t row = 0; row < 10; ++row) {
    const long begin = 10 + 4 * static_cast<long>(row);  // label, space, axis
    EXPECT_GT(characters(lines[row]), last);
    last = characters(lines[row]);
    EXPECT_NEAR(static_cast<double>(last), static_cast<double>(begin + 4), 2.0);
  }
}

TEST(Plot, LeavesOutWhatCannotBeDrawn) {
  EXPECT_EQ(plot_log({}, {}), "");
  EXPECT_EQ(plot_log({{"none", {0, 1, 2}, {NAN, 0, -1}}}, {}), "");
  const std::string some = plot_log({{"", {0, 1, 2, 3}, {1, INFINITY, 0, 0.5}}}, {});
  EXPECT_EQ(some, plot_log({{"", {0, 3}, {1, 0.5}}}, {}));
  // One point, and many that are the same.
  EXPECT_NE(plot_log({{"", {0}, {1e-3}}}, {}), "");
  EXPECT_NE(plot_log({{"", {0, 1, 2}, {1e-3, 1e-3, 1e-3}}}, {}), "");
}

TEST(Plot, ColoursOnlyWhenAsked) {
  EXPECT_EQ(plot_log({decay("x", 1, 0.1)}, {}).find('\033'), std::string::npos);
  EXPECT_NE(plot_log({decay("x", 1, 0.1)}, {.colours = true}).find('\033'), std::string::npos);
}

TEST(Plot, HasLettersForManyCurves) {
  std::vector<PlottedCurve> curves(60, decay("x", 1, 0.1));
  EXPECT_NE(plot_log(curves, {.width = 40}), "");
}

}  // namespace
}  // namespace edelta::cli
