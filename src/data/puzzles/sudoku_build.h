// Makes a folder of Sudoku puzzles (specification 12.2).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "data/puzzles/puzzle_writer.h"
#include "data/puzzles/sudoku.h"

namespace edelta::data {

struct SudokuOptions {
  int size = 9;
  std::int64_t train = 1000, test = 1000;
  std::int64_t views = 0;  // shuffles of each training board besides itself
  SudokuDifficulty difficulty;
  std::uint64_t seed = 0;
};

// The number of givens where nothing is asked for.
SudokuDifficulty default_difficulty(int size);

struct SudokuCounts {
  std::int64_t train_examples = 0, test_examples = 0;
  double mean_givens = 0, mean_rating = 0;
};

nlohmann::ordered_json options_to_json(const SudokuOptions& options);

// InputError for options that cannot be.
void validate(const SudokuOptions& options);

// Writes into a folder that is there and empty. InputError where there are not so many puzzles.
SudokuCounts write_sudoku(const std::filesystem::path& folder, const SudokuOptions& options,
                          const OnPuzzleProgress& on_progress);

}  // namespace edelta::data
