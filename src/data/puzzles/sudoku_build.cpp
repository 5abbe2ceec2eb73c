#include "data/puzzles/sudoku_build.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "base/random.h"
#include "data/puzzles/candidates.h"
#include "data/puzzles/puzzle_files.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;
using base::RandomStream;
using base::Stream;

// With fewer no puzzle has one solution.
int fewest_givens(int size) { return size == 4 ? 4 : size == 6 ? 8 : 17; }

// Tokens: 0 pads, 1 is a blank, digit d is d + 1.
SudokuBoard tokens_of(const SudokuBoard& board) {
  SudokuBoard tokens = board;
  for (std::uint8_t& each : tokens) ++each;
  return tokens;
}

std::vector<SudokuPuzzle> draw_puzzles(const SudokuOptions& options, Stream stream,
                                       const OnPuzzleProgress& on_progress) {
  const SudokuShape shape = sudoku_shape(options.size);
  const bool testing = stream == Stream::test_puzzles;
  const auto make = [&](std::uint64_t index) -> std::optional<SudokuPuzzle> {
    RandomStream random(options.seed, stream, index);
    SudokuBoard solution = draw_solution(shape, random);
    while (is_test_solution(shape, solution) != testing) solution = draw_solution(shape, random);
    return draw_puzzle(shape, solution, options.difficulty, random);
  };
  std::set<SudokuBoard> known;
  const auto accept = [&](const SudokuPuzzle& puzzle) { return known.insert(puzzle.board).second; };
  return first_candidates<SudokuPuzzle>(
      testing ? options.test : options.train, make, accept,
      testing ? "different test puzzles" : "different training puzzles",
      "ask for fewer puzzles, more givens or a lower rating", on_progress);
}

class SudokuSplit {
 public:
  SudokuSplit(const fs::path& folder, const SudokuShape& shape, std::int64_t examples)
      : shape_(shape),
        writer_(folder, examples,
                {.pad_id = 0,
                 .ignore_label_id = 0,
                 .vocab_size = shape.size + 2,
                 .seq_len = shape.cells(),
                 .num_puzzle_identifiers = 1}) {}

  void add(const SudokuBoard& board, const SudokuBoard& solution) {
    writer_.add_example(tokens_of(board), tokens_of(solution));
    writer_.end_puzzle(0);
  }
  // Of the same group as the board itself; none has the solution of a test board.
  void add_views(const SudokuPuzzle& puzzle, std::int64_t count, RandomStream random) {
    for (std::int64_t i = 0; i < count;) {
      const SudokuShuffle shuffle = draw_shuffle(shape_, random);
      const SudokuBoard solution = shuffled(shape_, puzzle.solution, shuffle);
      if (is_test_solution(shape_, solution)) continue;
      add(shuffled(shape_, puzzle.board, shuffle), solution);
      ++i;
    }
  }
  void end_group() { writer_.end_group(); }
  std::int64_t finish() {
    writer_.finish(writer_.groups());
    return writer_.examples();
  }

 private:
  SudokuShape shape_;
  PuzzleSplitWriter writer_;
};

}  // namespace

SudokuDifficulty default_difficulty(int size) {
  if (size == 4) return {.min_givens = 5, .max_givens = 7};
  if (size == 6) return {.min_givens = 12, .max_givens = 18};
  return {.min_givens = 28, .max_givens = 36};
}

nlohmann::ordered_json options_to_json(const SudokuOptions& options) {
  const SudokuDifficulty& asked = options.difficulty;
  nlohmann::ordered_json json{{"kind", "sudoku"},
                              {"size", options.size},
                              {"train", options.train},
                              {"test", options.test},
                              {"aug", options.views},
                              {"min_givens", asked.min_givens},
                              {"max_givens", asked.max_givens},
                              {"min_rating", asked.min_rating},
                              {"max_rating", nullptr},
                              {"seed", options.seed}};
  if (asked.max_rating) json["max_rating"] = *asked.max_rating;
  return json;
}

void validate(const SudokuOptions& options) {
  const SudokuShape shape = sudoku_shape(options.size);
  const SudokuDifficulty& asked = options.difficulty;
  const int fewest = fewest_givens(options.size), most = shape.cells();
  if (asked.min_givens < fewest || asked.max_givens > most) {
    throw InputError(
        fmt::format("givens from {} to {}: a {}×{} Sudoku with one solution has from {} to {}",
                    asked.min_givens, asked.max_givens, options.size, options.size, fewest, most));
  }
  if (asked.min_givens > asked.max_givens) {
    throw InputError(fmt::format("givens from {} to {}: the first must not be above the second",
                                 asked.min_givens, asked.max_givens));
  }
  if (asked.max_rating && asked.min_rating > *asked.max_rating) {
    throw InputError(fmt::format("rating from {} to {}: the first must not be above the second",
                                 asked.min_rating, *asked.max_rating));
  }
  require_countable(options.train * (1 + options.views));
  // A puzzle, and its board among those that are known.
  constexpr double kBytes = 512;
  base::require_memory(kBytes * static_cast<double>(options.train + options.test),
                       fmt::format("{} Sudoku puzzles", options.train + options.test));
}

SudokuCounts write_sudoku(const fs::path& folder, const SudokuOptions& options,
                          const OnPuzzleProgress& on_progress) {
  validate(options);
  const SudokuShape shape = sudoku_shape(options.size);
  const auto train = draw_puzzles(options, Stream::training_puzzles, on_progress);
  const auto test = draw_puzzles(options, Stream::test_puzzles, on_progress);
  SudokuCounts counts;
  const auto measure = [&](const SudokuPuzzle& puzzle) {
    const auto puzzles = static_cast<double>(train.size() + test.size());
    counts.mean_givens += puzzle.givens / puzzles;
    counts.mean_rating += static_cast<double>(puzzle.rating) / puzzles;
  };
  SudokuSplit training(folder / kTrainPuzzles, shape, options.train * (1 + options.views));
  for (std::size_t i = 0; i < train.size(); ++i) {
    if (on_progress) on_progress({"boards written", static_cast<std::int64_t>(i), options.train});
    training.add(train[i].board, train[i].solution);
    training.add_views(train[i], options.views,
                       RandomStream(options.seed, Stream::puzzle_views, i));
    training.end_group();
    measure(train[i]);
  }
  counts.train_examples = training.finish();
  SudokuSplit testing(folder / kTestPuzzles, shape, options.test);
  for (const SudokuPuzzle& puzzle : test) {
    testing.add(puzzle.board, puzzle.solution);
    testing.end_group();
    measure(puzzle);
  }
  counts.test_examples = testing.finish();
  write_identifiers(folder, {"<blank>"});
  return counts;
}

}  // namespace edelta::data
