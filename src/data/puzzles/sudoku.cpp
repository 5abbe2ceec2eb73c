#include "data/puzzles/sudoku.h"

#include <fmt/format.h>

#include <bit>
#include <numeric>

#include "data/puzzles/grid.h"
#include "data/puzzles/shuffle.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

using base::RandomStream;

// Digits that a row, a column and a box have, as bits 1 to 9.
class SudokuState {
 public:
  explicit SudokuState(const SudokuShape& shape)
      : shape_(shape), all_(((1u << shape.size) - 1) << 1), digits_(shape.cells(), 0) {}

  unsigned candidates(int cell) const {
    return all_ & ~(rows_[row(cell)] | columns_[column(cell)] | boxes_[box(cell)]);
  }
  // Places or takes away a digit that is possible, or there.
  void flip(int cell, int digit) {
    const unsigned bit = 1u << digit;
    rows_[row(cell)] ^= bit;
    columns_[column(cell)] ^= bit;
    boxes_[box(cell)] ^= bit;
    digits_[cell] = digits_[cell] == 0 ? static_cast<std::uint8_t>(digit) : 0;
  }
  // False where a given contradicts another.
  bool place_all(const SudokuBoard& board) {
    for (int cell = 0; cell < shape_.cells(); ++cell) {
      if (board[cell] == 0) continue;
      if (!(candidates(cell) & 1u << board[cell])) return false;
      flip(cell, board[cell]);
    }
    return true;
  }
  // The blank with the fewest candidates, the first of several; −1 without a blank.
  int next_blank() const {
    int best = -1, fewest = 10;
    for (int cell = 0; cell < shape_.cells() && fewest > 0; ++cell) {
      if (digits_[cell] != 0) continue;
      const int count = std::popcount(candidates(cell));
      if (count < fewest) best = cell, fewest = count;
    }
    return best;
  }
  const SudokuBoard& digits() const { return digits_; }

 private:
  int row(int cell) const { return cell / shape_.size; }
  int column(int cell) const { return cell % shape_.size; }
  int box(int cell) const {
    const int across = shape_.size / shape_.box_columns;
    return row(cell) / shape_.box_rows * across + column(cell) / shape_.box_columns;
  }

  SudokuShape shape_;
  unsigned all_;
  SudokuBoard digits_;
  std::array<unsigned, 9> rows_{}, columns_{}, boxes_{};
};

void search(SudokuState& state, int limit, std::int64_t most_dead_ends, SudokuSearch& found) {
  const int cell = state.next_blank();
  if (cell < 0) {
    if (found.solutions++ == 0) found.first = state.digits();
    return;
  }
  unsigned candidates = state.candidates(cell);
  if (candidates == 0) ++found.dead_ends;
  for (; candidates != 0 && found.solutions < limit && found.dead_ends < most_dead_ends;
       candidates &= candidates - 1) {
    const int digit = std::countr_zero(candidates);
    state.flip(cell, digit);
    search(state, limit, most_dead_ends, found);
    state.flip(cell, digit);
  }
}

// Digits in a random order; false where the board cannot be filled.
bool fill(SudokuState& state, RandomStream& random) {
  const int cell = state.next_blank();
  if (cell < 0) return true;
  std::vector<int> digits;
  for (unsigned left = state.candidates(cell); left != 0; left &= left - 1) {
    digits.push_back(std::countr_zero(left));
  }
  shuffle(digits, random);
  for (const int digit : digits) {
    state.flip(cell, digit);
    if (fill(state, random)) return true;
    state.flip(cell, digit);
  }
  return false;
}

// Lines 0 … size − 1 in another order, those of a band (or stack) of `thickness` together.
std::vector<int> draw_lines(int size, int thickness, RandomStream& random) {
  std::vector<int> bands(size / thickness), lines;
  std::iota(bands.begin(), bands.end(), 0);
  shuffle(bands, random);
  for (const int band : bands) {
    std::vector<int> inside(thickness);
    std::iota(inside.begin(), inside.end(), band * thickness);
    shuffle(inside, random);
    lines.insert(lines.end(), inside.begin(), inside.end());
  }
  return lines;
}

}  // namespace

SudokuShape sudoku_shape(int size) {
  if (size == 4) return {4, 2, 2};
  if (size == 6) return {6, 2, 3};
  if (size == 9) return {9, 3, 3};
  throw InputError(fmt::format("a Sudoku of size {}: it must be 4, 6 or 9", size));
}

SudokuSearch solve_sudoku(const SudokuShape& shape, const SudokuBoard& board, int limit,
                          std::int64_t most_dead_ends) {
  SudokuSearch found;
  SudokuState state(shape);
  if (state.place_all(board)) search(state, limit, most_dead_ends, found);
  return found;
}

SudokuBoard draw_solution(const SudokuShape& shape, RandomStream& random) {
  SudokuState state(shape);
  fill(state, random);  // an empty board can be filled
  return state.digits();
}

std::optional<SudokuPuzzle> draw_puzzle(const SudokuShape& shape, const SudokuBoard& solution,
                                        const SudokuDifficulty& difficulty, RandomStream& random) {
  const int span = difficulty.max_givens - difficulty.min_givens + 1;
  const int wanted =
      difficulty.min_givens + static_cast<int>(random.below(static_cast<std::uint32_t>(span)));
  SudokuPuzzle puzzle{solution, solution, shape.cells()};
  std::vector<int> order(shape.cells());
  std::iota(order.begin(), order.end(), 0);
  shuffle(order, random);
  for (const int cell : order) {
    if (puzzle.givens == wanted) break;
    puzzle.board[cell] = 0;
    if (solve_sudoku(shape, puzzle.board, 2).solutions == 1) {
      --puzzle.givens;
    } else {
      puzzle.board[cell] = solution[cell];
    }
  }
  if (puzzle.givens > difficulty.max_givens) return std::nullopt;
  puzzle.rating = solve_sudoku(shape, puzzle.board, 2).dead_ends;
  if (puzzle.rating < difficulty.min_rating ||
      puzzle.rating > difficulty.max_rating.value_or(puzzle.rating)) {
    return std::nullopt;
  }
  return puzzle;
}

SudokuShuffle draw_shuffle(const SudokuShape& shape, RandomStream& random) {
  SudokuShuffle drawn;
  std::vector<std::uint8_t> names(shape.size);
  std::iota(names.begin(), names.end(), std::uint8_t{1});
  shuffle(names, random);
  std::copy(names.begin(), names.end(), drawn.digits.begin() + 1);
  // Boxes that are not square would lie on their sides.
  drawn.transpose = shape.box_rows == shape.box_columns && random.below(2) == 1;
  drawn.rows = draw_lines(shape.size, shape.box_rows, random);
  drawn.columns = draw_lines(shape.size, shape.box_columns, random);
  return drawn;
}

SudokuBoard shuffled(const SudokuShape& shape, const SudokuBoard& board,
                     const SudokuShuffle& shuffle) {
  SudokuBoard result(board.size());
  for (int i = 0; i < shape.size; ++i) {
    for (int j = 0; j < shape.size; ++j) {
      const int row = shuffle.rows[i], column = shuffle.columns[j];
      const int from = shuffle.transpose ? column * shape.size + row : row * shape.size + column;
      result[i * shape.size + j] = shuffle.digits[board[from]];
    }
  }
  return result;
}

bool is_test_solution(const SudokuShape& shape, const SudokuBoard& solution) {
  return grid_hash({shape.size, shape.size, solution})[0] < '4';
}

}  // namespace edelta::data
