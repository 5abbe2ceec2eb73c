// Makes a folder of mazes (specification 12.2).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "data/puzzles/maze.h"
#include "data/puzzles/puzzle_writer.h"

namespace edelta::data {

inline constexpr int kSmallestMaze = 5, kLargestMaze = 30;

struct MazeCounts {
  std::int64_t train_examples = 0, test_examples = 0;
  double mean_path = 0;
};

nlohmann::ordered_json options_to_json(const MazeOptions& options);

// InputError for options that cannot be.
void validate(const MazeOptions& options);

// Writes into a folder that is there and empty. No maze is there twice, not even turned or
// mirrored. InputError where there are not so many.
MazeCounts write_mazes(const std::filesystem::path& folder, const MazeOptions& options,
                       const OnPuzzleProgress& on_progress);

}  // namespace edelta::data
