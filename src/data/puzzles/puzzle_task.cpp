#include "edelta/data/puzzle_task.h"

#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/input_file.h"
#include "base/json.h"
#include "data/puzzles/maze_build.h"
#include "data/puzzles/puzzle_files.h"
#include "data/puzzles/sudoku_build.h"

namespace edelta {

template <>
std::span<const EnumName<data::PuzzleKind>> enum_names() {
  using data::PuzzleKind;
  static constexpr std::array names{EnumName<PuzzleKind>{PuzzleKind::sudoku, "sudoku"},
                                    EnumName<PuzzleKind>{PuzzleKind::maze, "maze"}};
  return names;
}

namespace data {
namespace {

// A size of any number: the builders know which can be.
int whole(std::int64_t size) {
  return static_cast<int>(std::min<std::int64_t>(size, std::numeric_limits<int>::max()));
}

SudokuOptions sudoku_of(const PuzzleTask& task) {
  sudoku_shape(whole(task.size));  // before its difficulty is looked up
  return {.size = whole(task.size),
          .train = task.train,
          .test = task.test,
          .views = task.views,
          .difficulty = default_difficulty(whole(task.size)),
          .seed = task.seed};
}

// Paths are as long as `edelta puzzles` asks for.
MazeOptions maze_of(const PuzzleTask& task) {
  return {.size = whole(task.size),
          .train = task.train,
          .test = task.test,
          .views = task.views,
          .min_path = task.size,
          .seed = task.seed};
}

// Whether it is there, by these options.
bool was_made(const std::filesystem::path& folder, const nlohmann::ordered_json& options) {
  const std::filesystem::path file = folder / kPuzzleOptionsFile;
  return base::is_there(file) && base::read_json(file) == nlohmann::json(options);
}

}  // namespace

std::string PuzzleTask::name() const { return enum_to_string(kind) + std::to_string(size); }

void validate(const PuzzleTask& task) {
  constexpr std::int64_t kMost = 100'000'000;
  for (const auto& [key, count, least] :
       {std::tuple{"train", task.train, 1}, {"test", task.test, 1}, {"views", task.views, 0}}) {
    if (count >= least && count <= kMost) continue;
    throw InputError(fmt::format("{} is {}; it must be from {} to {}", field_name<PuzzleTask>(key),
                                 count, least, kMost));
  }
  task.kind == PuzzleKind::sudoku ? validate(sudoku_of(task)) : validate(maze_of(task));
}

PuzzleInfo token_info(const PuzzleTask& task) {
  return {.vocab_size = task.kind == PuzzleKind::sudoku ? task.size + 2 : kMazeVocab,
          .seq_len = task.size * task.size,
          .num_puzzle_identifiers = 1};
}

void write_puzzles(const std::filesystem::path& folder, const PuzzleTask& task,
                   const OnPuzzleProgress& on_progress) {
  if (task.kind == PuzzleKind::sudoku) {
    const SudokuOptions options = sudoku_of(task);
    if (was_made(folder, options_to_json(options))) return;
    write_puzzle_folder(folder, /*replace=*/false, options_to_json(options),
                        [&](const auto& into) { write_sudoku(into, options, on_progress); });
  } else {
    const MazeOptions options = maze_of(task);
    if (was_made(folder, options_to_json(options))) return;
    write_puzzle_folder(folder, /*replace=*/false, options_to_json(options),
                        [&](const auto& into) { write_mazes(into, options, on_progress); });
  }
}

}  // namespace data
}  // namespace edelta
