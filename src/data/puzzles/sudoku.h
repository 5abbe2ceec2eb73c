// Sudoku: 4×4, 6×6 and 9×9 boards, their solutions and their symmetries (specification 12.2).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"

namespace edelta::data {

// Boxes of 2×2, 2×3 (two rows, three columns) or 3×3 cells.
struct SudokuShape {
  int size = 9, box_rows = 3, box_columns = 3;

  int cells() const { return size * size; }
};

// InputError unless the size is 4, 6 or 9.
SudokuShape sudoku_shape(int size);

// Digits row by row; 0 is a blank.
using SudokuBoard = std::vector<std::uint8_t>;

// What the search that tries everything finds: it goes on with the blank that has the fewest
// digits left, the first of several.
struct SudokuSearch {
  int solutions = 0;           // at most the limit
  std::int64_t dead_ends = 0;  // branches that lead to a blank without a digit
  SudokuBoard first;           // solution; empty without one
};
// Givens that contradict each other have no solution. The search gives up after so many dead ends.
SudokuSearch solve_sudoku(const SudokuShape& shape, const SudokuBoard& board, int limit,
                          std::int64_t most_dead_ends = std::numeric_limits<std::int64_t>::max());

// A full board, drawn.
SudokuBoard draw_solution(const SudokuShape& shape, base::RandomStream& random);

struct SudokuDifficulty {
  int min_givens = 0, max_givens = 0;
  std::int64_t min_rating = 0;
  std::optional<std::int64_t> max_rating = {};  // absent: any
};

struct SudokuPuzzle {
  SudokuBoard board, solution;
  int givens = 0;
  // Dead ends of the search that shows its solution to be the only one: 0 where every cell follows
  // from its row, column and box in turn.
  std::int64_t rating = 0;
};

// Blanks as many of the solution's cells, in a random order, as leave it the only one; nothing
// where that is not of the difficulty asked for.
std::optional<SudokuPuzzle> draw_puzzle(const SudokuShape& shape, const SudokuBoard& solution,
                                        const SudokuDifficulty& difficulty,
                                        base::RandomStream& random);

// Keeps what is a puzzle a puzzle: digits renamed, transposed where boxes are square, bands and the
// rows in them in another order, stacks and columns likewise.
struct SudokuShuffle {
  std::array<std::uint8_t, 10> digits{};  // the new name of each; 0 stays 0
  bool transpose = false;
  std::vector<int> rows, columns;  // where each comes from, after the transposition
};
SudokuShuffle draw_shuffle(const SudokuShape& shape, base::RandomStream& random);
SudokuBoard shuffled(const SudokuShape& shape, const SudokuBoard& board,
                     const SudokuShuffle& shuffle);

// Whether boards with this solution are for testing: one in four, the same for every seed, so that
// no board that was trained on has the solution of one that is tested.
bool is_test_solution(const SudokuShape& shape, const SudokuBoard& solution);

}  // namespace edelta::data
