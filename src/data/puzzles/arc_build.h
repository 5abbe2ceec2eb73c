// Makes a folder of puzzles of ARC's tasks (specification 12.3).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "data/puzzles/arc_tasks.h"
#include "data/puzzles/puzzle_writer.h"

namespace edelta::data {

struct ArcOptions {
  std::vector<std::string> subsets;
  std::set<std::string> test_subsets;  // their test pairs are what is tested
  std::int64_t views = 1000;           // of each task besides itself
  std::uint64_t seed = 0;
  Unsolved unsolved = Unsolved::refused;  // in the test subsets; elsewhere they are trained on
};

nlohmann::ordered_json options_to_json(const ArcOptions& options);

// Whether [[0]] stands for solutions that nobody knows in the test puzzles of a folder: what is
// measured on them means nothing.
bool lacks_solutions(const std::filesystem::path& folder);

// The tasks of all subsets, subset by subset. InputError where an id is in two of them.
std::vector<ArcTask> read_arc_tasks(const std::filesystem::path& folder, const ArcOptions& options);

struct ArcCounts {
  std::int64_t tasks = 0, test_tasks = 0, identifiers = 0;
  std::int64_t train_puzzles = 0, train_examples = 0, test_puzzles = 0, test_examples = 0;
  std::int64_t short_tasks = 0;  // that have fewer different views than were asked for
};

// Writes into a folder that is there and empty. InputError where no task is tested.
ArcCounts write_arc(const std::filesystem::path& folder, std::vector<ArcTask> tasks,
                    const ArcOptions& options, const OnPuzzleProgress& on_progress);

}  // namespace edelta::data
