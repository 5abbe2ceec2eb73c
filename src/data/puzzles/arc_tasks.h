// ARC's tasks, from the JSON files that a user has (specification 12.3).
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "data/puzzles/grid.h"

namespace edelta::data {

struct ArcPair {
  Grid input, output;
};

struct ArcTask {
  std::string id, subset;
  std::vector<ArcPair> train, test;
};

// At most 30 × 30 cells of 0 to 9, rows equally long and at least one cell. InputErrors say what is
// wrong with it; the caller adds where.
Grid grid_from_json(const nlohmann::json& json);
nlohmann::json grid_to_json(const Grid& grid);

// Of test pairs without a solution: refused, or the 1 × 1 grid 0 in its place.
enum class Unsolved { refused, blank };
// What stands for an output that nobody knows.
inline Grid unknown_output() { return {1, 1, {0}}; }

// By id. `solutions` is null where there is no such file; then challenges may have the outputs.
// InputErrors name the source, the task and the pair.
std::vector<ArcTask> parse_arc_tasks(const nlohmann::json& challenges,
                                     const nlohmann::json& solutions, const std::string& subset,
                                     const std::string& challenges_source,
                                     const std::string& solutions_source, Unsolved unsolved);

// [PREFIX_]SUBSET_challenges.json and [PREFIX_]SUBSET_solutions.json in the folder.
std::vector<ArcTask> read_arc_subset(const std::filesystem::path& folder, const std::string& subset,
                                     Unsolved unsolved);

// test_puzzles.json: tasks with the outputs of their test pairs, by id.
std::map<std::string, ArcTask> read_test_puzzles(const std::filesystem::path& path);
std::map<std::string, ArcTask> test_puzzles_from_json(const nlohmann::json& json,
                                                      const std::string& source);
nlohmann::json arc_task_to_json(const ArcTask& task);

// SHA-256 of the sorted "hash of input|hash of output", joined by |.
std::string puzzle_hash(const std::vector<ArcPair>& pairs);

}  // namespace edelta::data
