// The data part against values of the published code (data.json).
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json.h"
#include "data/puzzles/arc_sequence.h"
#include "data/puzzles/arc_tasks.h"
#include "data/puzzles/arc_view.h"
#include "data/puzzles/arc_vote.h"
#include "data/puzzles/reflect_lite.h"
#include "data/puzzles/sudoku.h"
#include "golden.h"

namespace edelta::data {
namespace {

using nlohmann::json;

class PuzzleDataGolden : public testing::Test {
 protected:
  void SetUp() override {
    const auto path = test::golden_file("trm/data.json");
    if (!path) GTEST_SKIP() << "no golden trm/data.json";
    golden_ = base::read_json(*path);
  }
  json golden_;
};

std::vector<std::int32_t> tokens(const json& list) { return list.get<std::vector<std::int32_t>>(); }

TEST_F(PuzzleDataGolden, Transforms) {
  const json& sample = golden_["dihedral"];
  const Grid grid = grid_from_json(sample["grid"]);
  ASSERT_EQ(sample["by_tid"].size(), std::size_t{kTransforms});
  for (int transform = 0; transform < kTransforms; ++transform) {
    const Grid expected = grid_from_json(sample["by_tid"][transform]);
    EXPECT_EQ(transformed(grid, transform), expected) << transform;
    EXPECT_EQ(inverse_transform(transform), sample["inverse_tid"][transform]);
    EXPECT_EQ(transformed(expected, inverse_transform(transform)), grid) << transform;
  }
}

TEST_F(PuzzleDataGolden, Views) {
  const json& sample = golden_["augment"];
  const auto name = sample["name"].get<std::string>();
  const NamedView named = parse_view_name(name);
  const Grid grid = grid_from_json(sample["grid"]), seen = grid_from_json(sample["augmented"]);
  EXPECT_EQ(seen_through(named.view, grid), seen);
  EXPECT_EQ(as_before(named.view, seen), grid);
  EXPECT_EQ(view_name(named.task, named.view), name);
}

TEST_F(PuzzleDataGolden, Hashes) {
  ASSERT_FALSE(golden_["grid_hash"].empty());
  for (const json& sample : golden_["grid_hash"]) {
    EXPECT_EQ(grid_hash(grid_from_json(sample["grid"])), sample["sha256"].get<std::string>());
  }
  std::vector<ArcPair> pairs;
  for (const json& pair : golden_["puzzle_hash"]["pairs"]) {
    pairs.push_back({grid_from_json(pair[0]), grid_from_json(pair[1])});
  }
  EXPECT_EQ(puzzle_hash(pairs), golden_["puzzle_hash"]["sha256"].get<std::string>());
}

TEST_F(PuzzleDataGolden, Sequences) {
  ASSERT_FALSE(golden_["grid_to_seq"].empty());
  for (const json& sample : golden_["grid_to_seq"]) {
    for (const std::string side : {"input", "output"}) {
      const auto made = arc_sequence(grid_from_json(sample[side]), sample["pad_r"].get<int>(),
                                     sample["pad_c"].get<int>());
      EXPECT_EQ(std::vector<std::int32_t>(made.begin(), made.end()), tokens(sample[side + "_seq"]))
          << side << " at " << sample["pad_r"] << ", " << sample["pad_c"];
    }
  }
}

TEST_F(PuzzleDataGolden, Crops) {
  ASSERT_FALSE(golden_["crop"].empty());
  for (const json& sample : golden_["crop"]) {
    const Grid grid = crop_arc(tokens(sample["seq"]));
    EXPECT_EQ(json::array({grid.rows, grid.columns}), sample["grid_shape"]);
    EXPECT_EQ(grid_to_json(grid), sample["grid"]);
  }
}

TEST_F(PuzzleDataGolden, VotesPassesAndSubmission) {
  const json& sample = golden_["evaluator"];
  ArcVotes votes(sample["identifiers"].get<std::vector<std::string>>(),
                 test_puzzles_from_json(sample["test_puzzles"], "data.json"), 0);
  for (std::size_t i = 0; i < sample["inputs"].size(); ++i) {
    votes.add(sample["puzzle_identifiers"][i].get<std::int32_t>(), tokens(sample["inputs"][i]),
              tokens(sample["preds"][i]), sample["q_halt_logits"][i].get<double>());
  }
  ASSERT_EQ(sample["result"].size(), 3u);
  for (const int k : {1, 2, 3}) {
    EXPECT_DOUBLE_EQ(votes.pass_at(k),
                     sample["result"]["ARC/pass@" + std::to_string(k)].get<double>());
  }
  EXPECT_EQ(votes.submission(), sample["submission"]);
}

TEST_F(PuzzleDataGolden, FittingTransforms) {
  ASSERT_FALSE(golden_["reflect_pairs"].empty());
  for (const json& sample : golden_["reflect_pairs"]) {
    const ArcPair pair{grid_from_json(sample["input"]), grid_from_json(sample["output"])};
    EXPECT_EQ(json(fitting_transforms(pair)), sample["hits"]) << sample["input"];
  }
}

TEST_F(PuzzleDataGolden, Slices) {
  ASSERT_FALSE(golden_["reflect_label"].empty());
  for (const json& sample : golden_["reflect_label"]) {
    EXPECT_EQ(slice_name(slice_of(sample["reflect"].get<double>(), sample["rotation"].get<double>(),
                                  sample["identity"].get<double>())),
              sample["label"].get<std::string>())
        << sample;
  }
}

TEST_F(PuzzleDataGolden, SudokuShuffles) {
  const auto flat = [](const json& rows) {
    SudokuBoard board;
    for (const json& row : rows) {
      for (const json& digit : row) board.push_back(digit.get<std::uint8_t>());
    }
    return board;
  };
  ASSERT_FALSE(golden_["sudoku_shuffle"].empty());
  for (const json& sample : golden_["sudoku_shuffle"]) {
    SudokuShuffle shuffle{.transpose = sample["transpose"].get<bool>(),
                          .rows = sample["row_perm"].get<std::vector<int>>(),
                          .columns = sample["col_perm"].get<std::vector<int>>()};
    for (std::size_t i = 0; i < shuffle.digits.size(); ++i) {
      shuffle.digits[i] = sample["digit_map"][i].get<std::uint8_t>();
    }
    EXPECT_EQ(shuffled(sudoku_shape(9), flat(sample["board"]), shuffle), flat(sample["result"]));
  }
}

}  // namespace
}  // namespace edelta::data
