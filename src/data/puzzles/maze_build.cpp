#include "data/puzzles/maze_build.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "data/puzzles/candidates.h"
#include "data/puzzles/puzzle_files.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;
using base::RandomStream;
using base::Stream;

using KnownMazes = std::set<std::vector<std::uint8_t>>;

std::vector<MazePuzzle> draw_mazes(const MazeOptions& options, Stream stream, KnownMazes& known,
                                   const OnPuzzleProgress& on_progress) {
  const bool testing = stream == Stream::test_puzzles;
  const auto make = [&](std::uint64_t index) {
    RandomStream random(options.seed, stream, index);
    return draw_maze(options, random);
  };
  const auto accept = [&](const MazePuzzle& puzzle) {
    return known.insert(canonical(puzzle.maze).cells).second;
  };
  return first_candidates<MazePuzzle>(testing ? options.test : options.train, make, accept,
                                      testing ? "different test mazes" : "different training mazes",
                                      "ask for fewer mazes, larger ones or a shorter path",
                                      on_progress);
}

std::int64_t write_split(const fs::path& folder, const std::vector<MazePuzzle>& mazes, int size,
                         int views, const OnPuzzleProgress& on_progress) {
  const auto count = static_cast<std::int64_t>(mazes.size());
  PuzzleSplitWriter writer(folder, count * (1 + views),
                           {.pad_id = 0,
                            .ignore_label_id = 0,
                            .vocab_size = kMazeVocab,
                            .seq_len = size * size,
                            .num_puzzle_identifiers = 1});
  for (const MazePuzzle& puzzle : mazes) {
    if (on_progress) on_progress({"mazes written", writer.groups(), count});
    for (int view = 0; view <= views; ++view) {
      writer.add_example(transformed(puzzle.maze, view).cells,
                         transformed(puzzle.solution, view).cells);
      writer.end_puzzle(0);
    }
    writer.end_group();
  }
  writer.finish(writer.groups());
  return writer.examples();
}

}  // namespace

nlohmann::ordered_json options_to_json(const MazeOptions& options) {
  return {{"kind", "maze"},         {"size", options.size}, {"train", options.train},
          {"test", options.test},   {"aug", options.views}, {"min_path", options.min_path},
          {"loops", options.loops}, {"seed", options.seed}};
}

void validate(const MazeOptions& options) {
  if (options.size < kSmallestMaze || options.size > kLargestMaze) {
    throw InputError(fmt::format("a maze of size {}: it must be from {} to {}", options.size,
                                 kSmallestMaze, kLargestMaze));
  }
  if (options.views < 0 || options.views >= kTransforms) {
    throw InputError(
        fmt::format("{} further views of a maze: it has {}", options.views, kTransforms - 1));
  }
  if (!(options.loops >= 0 && options.loops <= 1)) {
    throw InputError(fmt::format("loops is {}; it must be from 0 to 1", options.loops));
  }
  if (options.min_path < 1) {
    throw InputError(fmt::format("a path of {} steps: it must be of 1 at least", options.min_path));
  }
  require_countable(options.train * (1 + options.views));
  // A maze without and with its way, and among those that are known.
  const double bytes = 3.0 * options.size * options.size + 256;
  base::require_memory(bytes * static_cast<double>(options.train + options.test),
                       fmt::format("{} mazes", options.train + options.test));
}

MazeCounts write_mazes(const fs::path& folder, const MazeOptions& options,
                       const OnPuzzleProgress& on_progress) {
  validate(options);
  KnownMazes known;
  const auto train = draw_mazes(options, Stream::training_puzzles, known, on_progress);
  const auto test = draw_mazes(options, Stream::test_puzzles, known, on_progress);
  MazeCounts counts;
  counts.train_examples = write_split(folder / kTrainPuzzles, train, options.size,
                                      static_cast<int>(options.views), on_progress);
  counts.test_examples = write_split(folder / kTestPuzzles, test, options.size, 0, on_progress);
  write_identifiers(folder, {"<blank>"});
  for (const auto* mazes : {&train, &test}) {
    for (const MazePuzzle& puzzle : *mazes) {
      counts.mean_path += puzzle.steps / static_cast<double>(train.size() + test.size());
    }
  }
  return counts;
}

}  // namespace edelta::data
