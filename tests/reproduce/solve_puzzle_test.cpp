#include "reproduce/solve_puzzle.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "expect_error.h"

namespace edelta::reproduce {
namespace {

using nlohmann::json;
using Rows = std::vector<std::string>;

TEST(PuzzleThought, IsDrawnWithItsFaults) {
  const PuzzleThought thought{.puzzle = {"S ", "#G"},
                              .expected = {"So", "#G"},
                              .steps = {{{"S ", "GG"}, 0.01}, {{"So", "#G"}, 0.999}}};
  EXPECT_EQ(drawn(thought),
            "puzzle   step 1 (1 %)   step 2 (100 %)   expected\n"
            "S ·      S ·×           S o              S o\n"
            "# G      G×G            # G              # G\n");
}

TEST(PuzzleThought, IsReadFromWhatSolvePrints) {
  const json good{{"puzzle", Rows{"1.", ".1"}},
                  {"expected", Rows{"12", "21"}},
                  {"steps", json::array({{{"solution", Rows{"12", "11"}}, {"belief", 0.25}}})}};
  const PuzzleThought thought = puzzle_thought_from_json(good, "test");
  EXPECT_EQ(thought.expected, (Rows{"12", "21"}));
  ASSERT_EQ(thought.steps.size(), 1u);
  EXPECT_EQ(thought.steps[0].answer, (Rows{"12", "11"}));
  EXPECT_EQ(thought.steps[0].belief, 0.25);
  const auto refused = [&](const char* key, const json& value, const char* reason) {
    json bad = good;
    bad[key] = value;
    test::expect_error<InputError>([&] { puzzle_thought_from_json(bad, "test"); }, "test", reason);
  };
  refused("expected", Rows{"12"}, "one size");
  refused("expected", Rows{"12", "2"}, "one size");
  refused("puzzle", json::array({1, 2}), "no text");
  refused("steps", json::array(), "empty");
  refused("steps", "none", "must be a list");
}

}  // namespace
}  // namespace edelta::reproduce
