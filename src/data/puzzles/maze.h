// Mazes and the shortest way through them (specification 12.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/puzzles/grid.h"

namespace edelta::data {

// Tokens of cells, in the order of "# SGo" as the published data has them; 0 pads.
enum MazeCell : std::uint8_t { kWall = 1, kOpen, kStart, kGoal, kWay };
inline constexpr int kMazeVocab = 6;

// The ways from a cell.
struct MazeDistances {
  std::vector<int> steps;  // the fewest to each cell; −1 where there is no way
  std::vector<int> ways;   // shortest ones to each cell; 2 stands for two or more
};
MazeDistances distances_from(const Grid& maze, int cell);

struct MazePuzzle {
  Grid maze, solution;  // without and with the way
  int steps = 0;        // from the start to the goal
};

struct MazeOptions {
  int size = 30;
  std::int64_t train = 1000, test = 1000;
  std::int64_t views = 0;      // of each training maze besides itself, at most seven
  std::int64_t min_path = 30;  // steps from the start to the goal, at least
  double loops = 0.05;         // share of the walls between two passages that are opened
  std::uint64_t seed = 0;
};

// A square of passages: every passage can be reached from every other, without loops by one way
// alone. Start and goal are at least `min_path` steps apart, and the shortest way is the only one
// of its length; nothing where this maze has no such two cells.
std::optional<MazePuzzle> draw_maze(const MazeOptions& options, base::RandomStream& random);

// The first of its eight views: the same for each of them.
Grid canonical(const Grid& maze);

}  // namespace edelta::data
