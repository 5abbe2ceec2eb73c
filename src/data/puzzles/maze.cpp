#include "data/puzzles/maze.h"

#include <algorithm>
#include <array>

#include "data/puzzles/shuffle.h"

namespace edelta::data {
namespace {

using base::RandomStream;

// The cells above, to the left, to the right and below, where there are any.
std::vector<int> neighbours(const Grid& maze, int cell) {
  const int row = cell / maze.columns, column = cell % maze.columns;
  std::vector<int> found;
  if (row > 0) found.push_back(cell - maze.columns);
  if (column > 0) found.push_back(cell - 1);
  if (column + 1 < maze.columns) found.push_back(cell + 1);
  if (row + 1 < maze.rows) found.push_back(cell + maze.columns);
  return found;
}

int open_neighbours(const Grid& maze, int cell) {
  const std::vector<int> near = neighbours(maze, cell);
  return static_cast<int>(
      std::count_if(near.begin(), near.end(), [&](int each) { return maze.cells[each] != kWall; }));
}

// A cell is opened where it touches one passage: so passages form a tree, in a square of any size.
// Going on from the last one, as long as that is possible, makes ways long.
void carve(Grid& maze, RandomStream& random) {
  std::vector<int> path{
      static_cast<int>(random.below(static_cast<std::uint32_t>(maze.cells.size())))};
  maze.cells[path.back()] = kOpen;
  while (!path.empty()) {
    std::vector<int> next = neighbours(maze, path.back());
    std::erase_if(next, [&](int cell) {
      return maze.cells[cell] != kWall || open_neighbours(maze, cell) != 1;
    });
    if (next.empty()) {
      path.pop_back();
      continue;
    }
    path.push_back(next[random.below(static_cast<std::uint32_t>(next.size()))]);
    maze.cells[path.back()] = kOpen;
  }
}

void open_walls(Grid& maze, double share, RandomStream& random) {
  for (int cell = 0; cell < static_cast<int>(maze.cells.size()); ++cell) {
    if (maze.cells[cell] != kWall || open_neighbours(maze, cell) != 2) continue;
    if (random.uniform() < share) maze.cells[cell] = kOpen;
  }
}

// Back from the goal, each step one nearer to the start.
void mark_way(Grid& maze, const MazeDistances& from_start, int goal) {
  int cell = goal;
  while (from_start.steps[cell] > 1) {
    for (const int near : neighbours(maze, cell)) {
      if (from_start.steps[near] != from_start.steps[cell] - 1) continue;
      cell = near;
      break;
    }
    maze.cells[cell] = kWay;
  }
}

}  // namespace

MazeDistances distances_from(const Grid& maze, int cell) {
  MazeDistances found{std::vector<int>(maze.cells.size(), -1),
                      std::vector<int>(maze.cells.size(), 0)};
  found.steps[cell] = 0;
  found.ways[cell] = 1;
  std::vector<int> reached{cell};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const int from = reached[i];
    for (const int to : neighbours(maze, from)) {
      if (maze.cells[to] == kWall) continue;
      if (found.steps[to] < 0) {
        found.steps[to] = found.steps[from] + 1;
        reached.push_back(to);
      }
      if (found.steps[to] == found.steps[from] + 1) {
        found.ways[to] = std::min(2, found.ways[to] + found.ways[from]);
      }
    }
  }
  return found;
}

std::optional<MazePuzzle> draw_maze(const MazeOptions& options, RandomStream& random) {
  const int size = options.size;
  Grid maze{size, size, std::vector<std::uint8_t>(static_cast<std::size_t>(size * size), kWall)};
  carve(maze, random);
  open_walls(maze, options.loops, random);
  std::vector<int> open;
  for (int cell = 0; cell < size * size; ++cell) {
    if (maze.cells[cell] == kOpen) open.push_back(cell);
  }
  const int start = open[random.below(static_cast<std::uint32_t>(open.size()))];
  const MazeDistances from_start = distances_from(maze, start);
  std::erase_if(open, [&](int cell) {
    return from_start.steps[cell] < options.min_path || from_start.ways[cell] != 1;
  });
  if (open.empty()) return std::nullopt;
  const int goal = open[random.below(static_cast<std::uint32_t>(open.size()))];
  maze.cells[start] = kStart;
  maze.cells[goal] = kGoal;
  MazePuzzle puzzle{maze, maze, from_start.steps[goal]};
  mark_way(puzzle.solution, from_start, goal);
  return puzzle;
}

Grid canonical(const Grid& maze) {
  Grid first = maze;
  for (int transform = 1; transform < kTransforms; ++transform) {
    Grid view = transformed(maze, transform);
    if (view.cells < first.cells) first = std::move(view);
  }
  return first;
}

}  // namespace edelta::data
