#include "data/puzzles/maze.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <queue>
#include <set>

#include "data/puzzles/maze_build.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::data {
namespace {

using base::RandomStream;
using base::Stream;
using test::expect_error;
using test::TemporaryFolder;

int only_cell(const Grid& maze, int kind) {
  EXPECT_EQ(std::count(maze.cells.begin(), maze.cells.end(), kind), 1);
  return static_cast<int>(std::find(maze.cells.begin(), maze.cells.end(), kind) -
                          maze.cells.begin());
}

bool beside(const Grid& maze, int a, int b) {
  const int n = maze.columns;
  return std::abs(a / n - b / n) + std::abs(a % n - b % n) == 1;
}

// Steps and number of shortest ways, by breadth-first search over pairs of cells.
std::pair<int, double> shortest(const Grid& maze, int start, int goal) {
  const int cells = static_cast<int>(maze.cells.size());
  std::vector<int> steps(cells, -1);
  std::vector<double> ways(cells, 0);
  std::queue<int> queue;
  steps[start] = 0;
  ways[start] = 1;
  queue.push(start);
  while (!queue.empty()) {
    const int from = queue.front();
    queue.pop();
    for (int to = 0; to < cells; ++to) {
      if (!beside(maze, from, to) || maze.cells[to] == kWall) continue;
      if (steps[to] < 0) {
        steps[to] = steps[from] + 1;
        queue.push(to);
      }
      if (steps[to] == steps[from] + 1) ways[to] += ways[from];
    }
  }
  return {steps[goal], ways[goal]};
}

void expect_marked(const MazePuzzle& puzzle, const MazeOptions& options) {
  const Grid &maze = puzzle.maze, &solution = puzzle.solution;
  const int start = only_cell(maze, kStart), goal = only_cell(maze, kGoal);
  const auto [steps, ways] = shortest(maze, start, goal);
  EXPECT_EQ(steps, puzzle.steps);
  EXPECT_GE(steps, options.min_path);
  EXPECT_EQ(ways, 1);
  // The marks are the cells between: as many as there are steps, less one, and each is passed.
  EXPECT_EQ(std::count(solution.cells.begin(), solution.cells.end(), kWay), steps - 1);
  int cell = start, before = -1;
  for (int i = 0; i < steps; ++i) {
    int next = -1;
    for (int to = 0; to < static_cast<int>(solution.cells.size()); ++to) {
      const bool on_way = solution.cells[to] == kWay || (i + 1 == steps && to == goal);
      if (to != before && on_way && beside(solution, cell, to)) {
        EXPECT_EQ(next, -1) << "a fork";
        next = to;
      }
    }
    ASSERT_NE(next, -1);
    before = cell;
    cell = next;
  }
  EXPECT_EQ(cell, goal);
  for (std::size_t i = 0; i < maze.cells.size(); ++i) {
    EXPECT_EQ(solution.cells[i] == kWay ? int{kOpen} : solution.cells[i], maze.cells[i]);
  }
}

TEST(Maze, TheMarkedWayIsTheOnlyShortest) {
  for (const int size : {5, 8, 9, 14, 30}) {
    int made = 0;
    for (std::uint64_t index = 0; index < (size == 30 ? 2 : 12); ++index) {
      const MazeOptions options{.size = size, .min_path = size, .loops = index % 2 ? 0.3 : 0.0};
      RandomStream random(2, Stream::training_puzzles, index);
      const auto puzzle = draw_maze(options, random);
      if (!puzzle) continue;
      ++made;
      EXPECT_EQ(puzzle->maze.rows, size);
      expect_marked(*puzzle, options);
    }
    EXPECT_GT(made, 0) << size;
  }
}

// Edges between open cells: one fewer than there are cells in a tree, more with loops.
int surplus_edges(const Grid& maze) {
  int cells = 0, edges = 0;
  for (int a = 0; a < static_cast<int>(maze.cells.size()); ++a) {
    if (maze.cells[a] == kWall) continue;
    ++cells;
    for (int b = 0; b < a; ++b) edges += maze.cells[b] != kWall && beside(maze, a, b);
  }
  return edges - (cells - 1);
}

TEST(Maze, LoopsAreAskedFor) {
  int with_loops = 0;
  for (std::uint64_t index = 0; index < 10; ++index) {
    RandomStream random(4, Stream::training_puzzles, index);
    const auto tree = draw_maze({.size = 12, .min_path = 4, .loops = 0}, random);
    EXPECT_TRUE(!tree || surplus_edges(tree->maze) == 0);
    RandomStream other(4, Stream::training_puzzles, index);
    const auto looped = draw_maze({.size = 12, .min_path = 4, .loops = 0.5}, other);
    if (looped) with_loops += surplus_edges(looped->maze) > 0;
  }
  EXPECT_GE(with_loops, 5);
}

TEST(Maze, WaysAreCounted) {
  // Two ways around a wall.
  const Grid ring{3, 3, {kOpen, kOpen, kOpen, kOpen, kWall, kOpen, kOpen, kOpen, kOpen}};
  const MazeDistances found = distances_from(ring, 0);
  EXPECT_EQ(found.steps, (std::vector<int>{0, 1, 2, 1, -1, 3, 2, 3, 4}));
  EXPECT_EQ(found.ways, (std::vector<int>{1, 1, 1, 1, 0, 1, 1, 1, 2}));
}

std::set<std::vector<std::uint8_t>> mazes_of(const PuzzleSplit& split) {
  std::set<std::vector<std::uint8_t>> mazes;
  std::vector<std::int32_t> row(split.info.seq_len);
  for (std::int64_t i = 0; i < split.sets[0].examples(); ++i) {
    split.sets[0].copy_inputs(i, row);
    mazes.insert(canonical({7, 7, {row.begin(), row.end()}}).cells);
  }
  return mazes;
}

TEST(MazeFolder, NoTestMazeIsATrainingMazeTurned) {
  const TemporaryFolder folder;
  const MazeOptions options{
      .size = 7, .train = 60, .test = 40, .views = 7, .min_path = 5, .seed = 3};
  const MazeCounts counts = write_mazes(folder.path(), options, {});
  EXPECT_EQ(counts.train_examples, 480);
  EXPECT_GE(counts.mean_path, 5);
  const PuzzleData data = read_puzzle_data(folder.path());
  EXPECT_EQ(data.train.info.vocab_size, kMazeVocab);
  EXPECT_EQ(data.train.sets[0].groups(), 60);
  EXPECT_EQ(data.train.sets[0].puzzles(), 480);
  const auto trained = mazes_of(data.train), tested = mazes_of(data.test);
  EXPECT_EQ(trained.size(), 60u);
  EXPECT_EQ(tested.size(), 40u);
  for (const auto& maze : tested) EXPECT_FALSE(trained.contains(maze));
  // Views are those of inputs and labels alike.
  std::vector<std::int32_t> input(49), labels(49);
  for (std::int64_t i = 0; i < 480; ++i) {
    data.train.sets[0].copy_inputs(i, input);
    data.train.sets[0].copy_labels(i, labels);
    for (int cell = 0; cell < 49; ++cell) {
      EXPECT_EQ(labels[cell] == kWay ? int{kOpen} : labels[cell], input[cell]);
    }
  }
}

TEST(MazeFolder, RefusesWhatCannotBe) {
  const auto refuse = [](const MazeOptions& options, const std::string& reason) {
    expect_error<InputError>([&] { validate(options); }, reason);
  };
  refuse({.size = 31}, "from 5 to 30");
  refuse({.size = 4}, "from 5 to 30");
  refuse({.views = 8}, "it has 7");
  refuse({.loops = 1.5}, "from 0 to 1");
  refuse({.min_path = 0}, "1 at least");
  const TemporaryFolder folder;
  expect_error<InputError>(
      [&] { write_mazes(folder.path(), {.size = 5, .train = 1, .test = 1, .min_path = 25}, {}); },
      "0 of 1", "a shorter path");
}

}  // namespace
}  // namespace edelta::data
