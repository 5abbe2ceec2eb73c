#include "data/puzzles/sudoku.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/puzzles/puzzle_writer.h"
#include "data/puzzles/sudoku_build.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::data {
namespace {

using base::RandomStream;
using base::Stream;
using test::expect_error;
using test::TemporaryFolder;

// Another way to solve: as an exact cover. Each placement of a digit covers four demands (the cell,
// the digit in the row, in the column, in the box); every demand is covered once.
class ExactCover {
 public:
  explicit ExactCover(const SudokuShape& shape) : shape_(shape) {
    const int n = shape.size, across = n / shape.box_columns;
    for (int row = 0; row < n; ++row) {
      for (int column = 0; column < n; ++column) {
        const int box = row / shape.box_rows * across + column / shape.box_columns;
        for (int digit = 1; digit <= n; ++digit) {
          const int placement = (row * n + column) * 10 + digit;
          for (const std::array<int, 3> demand :
               {std::array{0, row, column}, {1, row, digit}, {2, column, digit}, {3, box, digit}}) {
            ways_[demand].insert(placement);
            demands_[placement].push_back(demand);
          }
        }
      }
    }
  }

  int count(const SudokuBoard& board, int limit) {
    for (int cell = 0; cell < shape_.cells(); ++cell) {
      if (board[cell] == 0) continue;
      const int placement = cell * 10 + board[cell];
      for (const auto& demand : demands_.at(placement)) {
        if (!ways_.contains(demand) || !ways_[demand].contains(placement)) return 0;
      }
      take(placement);
    }
    int found = 0;
    search(limit, found);
    return found;
  }

 private:
  using Demand = std::array<int, 3>;
  using Ways = std::map<Demand, std::set<int>>;

  // Removes the demands that a placement covers, and the placements that would cover one again.
  std::vector<std::pair<Demand, std::set<int>>> take(int placement) {
    std::vector<std::pair<Demand, std::set<int>>> removed;
    for (const Demand& demand : demands_.at(placement)) {
      for (const int other : ways_.at(demand)) {
        for (const Demand& affected : demands_.at(other)) {
          if (affected != demand && ways_.contains(affected)) ways_[affected].erase(other);
        }
      }
      removed.emplace_back(demand, std::move(ways_.at(demand)));
      ways_.erase(demand);
    }
    return removed;
  }
  void give_back(std::vector<std::pair<Demand, std::set<int>>>& removed) {
    for (; !removed.empty(); removed.pop_back()) {
      auto& [demand, placements] = removed.back();
      for (const int other : placements) {
        for (const Demand& affected : demands_.at(other)) {
          if (affected != demand && ways_.contains(affected)) ways_[affected].insert(other);
        }
      }
      ways_[demand] = std::move(placements);
    }
  }
  void search(int limit, int& found) {
    if (ways_.empty()) {
      ++found;
      return;
    }
    const auto fewest = std::min_element(ways_.begin(), ways_.end(), [](auto& a, auto& b) {
      return a.second.size() < b.second.size();
    });
    const std::set<int> placements = fewest->second;
    for (const int placement : placements) {
      if (found >= limit) return;
      auto removed = take(placement);
      search(limit, found);
      give_back(removed);
    }
  }

  SudokuShape shape_;
  Ways ways_;
  std::map<int, std::vector<Demand>> demands_;
};

// Every row, column and box has every digit.
void expect_solved(const SudokuShape& shape, const SudokuBoard& board) {
  std::map<std::pair<char, int>, std::set<int>> seen;
  for (int cell = 0; cell < shape.cells(); ++cell) {
    const int row = cell / shape.size, column = cell % shape.size;
    ASSERT_GE(board[cell], 1);
    ASSERT_LE(board[cell], shape.size);
    seen[{'r', row}].insert(board[cell]);
    seen[{'c', column}].insert(board[cell]);
    seen[{'b', row / shape.box_rows * 100 + column / shape.box_columns}].insert(board[cell]);
  }
  EXPECT_EQ(seen.size(), std::size_t(3 * shape.size));
  for (const auto& [place, digits] : seen) EXPECT_EQ(digits.size(), std::size_t(shape.size));
}

class SudokuSizes : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(All, SudokuSizes, testing::Values(4, 6, 9));

TEST_P(SudokuSizes, PuzzlesHaveOneSolutionByAnotherSolver) {
  const SudokuShape shape = sudoku_shape(GetParam());
  const SudokuDifficulty difficulty = default_difficulty(GetParam());
  int made = 0;
  for (std::uint64_t index = 0; index < 12; ++index) {
    RandomStream random(7, Stream::training_puzzles, index);
    const SudokuBoard solution = draw_solution(shape, random);
    expect_solved(shape, solution);
    const auto puzzle = draw_puzzle(shape, solution, difficulty, random);
    if (!puzzle) continue;
    ++made;
    EXPECT_EQ(ExactCover(shape).count(puzzle->board, 2), 1);
    int givens = 0;
    for (int cell = 0; cell < shape.cells(); ++cell) {
      if (puzzle->board[cell] == 0) continue;
      ++givens;
      EXPECT_EQ(puzzle->board[cell], solution[cell]);
    }
    EXPECT_EQ(givens, puzzle->givens);
    EXPECT_GE(givens, difficulty.min_givens);
    EXPECT_LE(givens, difficulty.max_givens);
    const SudokuSearch found = solve_sudoku(shape, puzzle->board, 2);
    EXPECT_EQ(found.solutions, 1);
    EXPECT_EQ(found.first, solution);
    EXPECT_EQ(found.dead_ends, puzzle->rating);
  }
  EXPECT_GE(made, 8);
}

TEST_P(SudokuSizes, CountsSolutionsAsTheOtherSolver) {
  const SudokuShape shape = sudoku_shape(GetParam());
  std::set<int> counts;
  for (std::uint64_t index = 0; index < 20; ++index) {
    RandomStream random(3, Stream::training_puzzles, index);
    SudokuBoard board = draw_solution(shape, random);
    // A third of the cells stay.
    for (std::uint8_t& digit : board) digit = random.below(3) == 0 ? digit : 0;
    const int expected = ExactCover(shape).count(board, 4);
    EXPECT_EQ(solve_sudoku(shape, board, 4).solutions, expected);
    counts.insert(expected);
  }
  EXPECT_TRUE(counts.contains(4));
}

TEST_P(SudokuSizes, ShufflesOfASolutionAreSolutions) {
  const SudokuShape shape = sudoku_shape(GetParam());
  RandomStream random(5, Stream::puzzle_views, 0);
  const SudokuBoard solution = draw_solution(shape, random);
  std::set<SudokuBoard> different;
  bool transposed = false;
  for (int i = 0; i < 30; ++i) {
    const SudokuShuffle shuffle = draw_shuffle(shape, random);
    transposed |= shuffle.transpose;
    different.insert(shuffled(shape, solution, shuffle));
    expect_solved(shape, shuffled(shape, solution, shuffle));
  }
  EXPECT_GT(different.size(), 15u);
  EXPECT_EQ(transposed, GetParam() != 6);  // boxes of 2 × 3 do not allow it
}

TEST(Sudoku, ContradictionsHaveNoSolution) {
  const SudokuShape shape = sudoku_shape(4);
  SudokuBoard board(16, 0);
  EXPECT_EQ(solve_sudoku(shape, board, 1000).solutions, 288);  // all there are
  board[0] = board[3] = 1;
  EXPECT_EQ(solve_sudoku(shape, board, 2).solutions, 0);
  board[3] = 0;
  board[5] = 1;
  EXPECT_EQ(solve_sudoku(shape, board, 2).solutions, 0);
  // No two are alike, and yet the first cell has no digit left.
  board = {0, 1, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0};
  const SudokuSearch found = solve_sudoku(shape, board, 2);
  EXPECT_EQ(found.solutions, 0);
  EXPECT_EQ(found.dead_ends, 1);
  EXPECT_TRUE(found.first.empty());
}

TEST(Sudoku, RatingIsAskedFor) {
  const SudokuShape shape = sudoku_shape(9);
  SudokuDifficulty difficulty{.min_givens = 24, .max_givens = 28, .min_rating = 2, .max_rating = 9};
  int made = 0;
  for (std::uint64_t index = 0; index < 40; ++index) {
    RandomStream random(1, Stream::training_puzzles, index);
    const auto puzzle = draw_puzzle(shape, draw_solution(shape, random), difficulty, random);
    if (!puzzle) continue;
    ++made;
    EXPECT_GE(puzzle->rating, 2);
    EXPECT_LE(puzzle->rating, 9);
  }
  EXPECT_GT(made, 0);
}

// Examples of a split as (tokens, labels).
std::vector<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> all_examples(
    const PuzzleSplit& split) {
  std::vector<std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>> examples;
  const PuzzleSet& set = split.sets.at(0);
  for (std::int64_t i = 0; i < set.examples(); ++i) {
    std::vector<std::int32_t> input(split.info.seq_len), labels(split.info.seq_len);
    set.copy_inputs(i, input);
    set.copy_labels(i, labels);
    examples.emplace_back(std::move(input), std::move(labels));
  }
  return examples;
}

TEST(SudokuFolder, TestSolutionsAreNeverTrainedOn) {
  const TemporaryFolder folder;
  // 4 × 4 has 288 solutions, so that a few hundred boards, shuffled, would have them all.
  SudokuOptions options{.size = 4,
                        .train = 200,
                        .test = 100,
                        .views = 5,
                        .difficulty = default_difficulty(4),
                        .seed = 11};
  const SudokuCounts counts = write_sudoku(folder.path(), options, {});
  EXPECT_EQ(counts.train_examples, 1200);
  const PuzzleData data = read_puzzle_data(folder.path());
  EXPECT_EQ(data.train.info.vocab_size, 6);
  EXPECT_EQ(data.train.info.seq_len, 16);
  EXPECT_EQ(data.train.info.total_puzzles, 200);  // groups, as the published builder counts
  EXPECT_DOUBLE_EQ(data.train.info.mean_puzzle_examples, 1);
  EXPECT_EQ(data.identifiers, (std::vector<std::string>{"<blank>"}));
  const PuzzleSet& set = data.train.sets.at(0);
  EXPECT_EQ(set.groups(), 200);
  EXPECT_EQ(set.puzzles(), 1200);
  EXPECT_EQ(set.puzzles_of(1).begin, 6);
  std::set<std::vector<std::int32_t>> trained, tested, boards;
  const auto untoken = [](const std::vector<std::int32_t>& tokens) {
    SudokuBoard board;
    for (const std::int32_t token : tokens) board.push_back(static_cast<std::uint8_t>(token - 1));
    return board;
  };
  const auto look = [&](const PuzzleSplit& split, std::set<std::vector<std::int32_t>>& solutions) {
    for (const auto& [input, labels] : all_examples(split)) {
      solutions.insert(labels);
      EXPECT_EQ(solve_sudoku(sudoku_shape(4), untoken(input), 2).solutions, 1);
      EXPECT_EQ(solve_sudoku(sudoku_shape(4), untoken(input), 2).first, untoken(labels));
    }
  };
  look(data.train, trained);
  look(data.test, tested);
  for (const auto& solution : tested) EXPECT_FALSE(trained.contains(solution));
  EXPECT_GT(trained.size(), 150u);
  EXPECT_GT(tested.size(), 40u);
  for (const auto& [input, labels] : all_examples(data.test)) boards.insert(input);
  EXPECT_EQ(boards.size(), 100u);  // all different
}

TEST(SudokuFolder, RefusesWhatCannotBe) {
  const auto refuse = [](const SudokuOptions& options, const std::string& reason) {
    expect_error<InputError>([&] { validate(options); }, reason);
  };
  refuse({.size = 5, .difficulty = {.min_givens = 5, .max_givens = 6}}, "4, 6 or 9");
  refuse({.difficulty = {.min_givens = 16, .max_givens = 30}}, "from 17 to 81");
  refuse({.difficulty = {.min_givens = 40, .max_givens = 30}}, "not be above");
  refuse({.difficulty = {.min_givens = 30, .max_givens = 30, .min_rating = 2, .max_rating = 1}},
         "rating from 2 to 1");
  refuse({.train = 3000, .views = 1000000, .difficulty = default_difficulty(9)}, "can number");
  // A rating that no 4 × 4 puzzle has.
  const TemporaryFolder folder;
  SudokuOptions hopeless{.size = 4, .train = 1, .test = 1, .difficulty = default_difficulty(4)};
  hopeless.difficulty.min_rating = 1000;
  expect_error<InputError>([&] { write_sudoku(folder.path(), hopeless, {}); }, "0 of 1",
                           "lower rating");
  EXPECT_EQ(folder.entries(), 0u);
}

}  // namespace
}  // namespace edelta::data
