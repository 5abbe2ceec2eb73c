#include "data/puzzles/arc_tasks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/input_file.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/required_fields.h"
#include "base/sha256.h"
#include "data/puzzles/arc_sequence.h"
#include "data/puzzles/arc_view.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::uint8_t colour_from_json(const json& cell, std::size_t row, std::size_t column) {
  if (cell.is_number_unsigned() && cell.get<std::uint64_t>() < kColours) {
    return static_cast<std::uint8_t>(cell.get<std::uint64_t>());
  }
  throw InputError(fmt::format("row {}, column {} is {}; cells are whole numbers from 0 to 9",
                               row + 1, column + 1, cell.is_number() ? cell.dump() : "no number"));
}

Grid entry_grid(const json& pair, const char* key) {
  const json& rows = base::required_entry(pair, key);
  Grid grid;
  with_source(key, [&] { grid = grid_from_json(rows); });
  return grid;
}

// Calls use(pair) for each pair of a list that is not empty, and names the pair in errors.
template <class Use>
void for_each_pair(const json& task, const char* key, const Use& use) {
  const json& pairs = base::required_list(task, key);
  if (pairs.empty()) throw InputError(fmt::format("{} has no pair", key));
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    with_source(fmt::format("{} pair {}", key, i + 1), [&] {
      if (!pairs[i].is_object()) throw InputError("it must be an object with input and output");
      use(pairs[i]);
    });
  }
}

void check_id(const std::string& id) {
  if (id.empty() || id.find(kViewSeparator) != std::string::npos) {
    throw InputError(fmt::format("an id must not be empty or hold {}", kViewSeparator));
  }
}

// A task as challenges have it, and which of its test pairs have an output there.
struct Challenge {
  ArcTask task;
  std::vector<bool> solved;
};

Challenge challenge_from_json(const std::string& id, const json& json) {
  check_id(id);
  if (!json.is_object()) throw InputError("it must be an object with train and test");
  Challenge result;
  result.task.id = id;
  for_each_pair(json, "train", [&](const auto& pair) {
    result.task.train.push_back({entry_grid(pair, "input"), entry_grid(pair, "output")});
  });
  for_each_pair(json, "test", [&](const auto& pair) {
    result.solved.push_back(pair.contains("output"));
    result.task.test.push_back({entry_grid(pair, "input"), result.solved.back()
                                                               ? entry_grid(pair, "output")
                                                               : unknown_output()});
  });
  return result;
}

void add_solutions(const json& solutions, Challenge& challenge) {
  std::vector<ArcPair>& pairs = challenge.task.test;
  const auto found = solutions.find(challenge.task.id);
  if (found == solutions.end()) throw InputError("it has no solutions");
  if (!found->is_array() || found->size() != pairs.size()) {
    throw InputError(fmt::format(
        "its solutions must be a list with one grid for each of {} test pairs", pairs.size()));
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    with_source(fmt::format("solution {}", i + 1),
                [&] { pairs[i].output = grid_from_json((*found)[i]); });
    challenge.solved[i] = true;
  }
}

void require_solutions(const Challenge& challenge) {
  const auto first = std::find(challenge.solved.begin(), challenge.solved.end(), false);
  if (first == challenge.solved.end()) return;
  throw InputError(
      fmt::format("test pair {}: it has no solution", first - challenge.solved.begin() + 1));
}

// The one file of the folder that has this name, behind a prefix or without; nothing where none
// has.
std::optional<fs::path> prefixed_file(const fs::path& folder, const std::string& name) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename();
    if (file == name || file.ends_with("_" + name)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  if (found.size() > 1) {
    throw InputError(fmt::format("{}: both {} and {} could be meant", folder.string(),
                                 found[0].filename().string(), found[1].filename().string()));
  }
  return found.empty() ? std::nullopt : std::optional(found.front());
}

json pairs_to_json(const std::vector<ArcPair>& pairs) {
  json list = json::array();
  for (const ArcPair& pair : pairs) {
    list.push_back({{"input", grid_to_json(pair.input)}, {"output", grid_to_json(pair.output)}});
  }
  return list;
}

}  // namespace

Grid grid_from_json(const json& rows) {
  if (!rows.is_array() || rows.empty()) throw InputError("it must be a list of rows");
  if (rows.size() > kArcSide) {
    throw InputError(fmt::format("it has {} rows; {} is the most", rows.size(), kArcSide));
  }
  Grid grid;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const json& row = rows[i];
    if (!row.is_array() || row.empty()) {
      throw InputError(fmt::format("row {} must be a list of cells", i + 1));
    }
    if (row.size() > kArcSide) {
      throw InputError(
          fmt::format("row {} has {} cells; {} is the most", i + 1, row.size(), kArcSide));
    }
    if (row.size() != rows[0].size()) {
      throw InputError(fmt::format("row {} has {} cells, row 1 has {}; all must have the same",
                                   i + 1, row.size(), rows[0].size()));
    }
    for (std::size_t j = 0; j < row.size(); ++j) {
      grid.cells.push_back(colour_from_json(row[j], i, j));
    }
  }
  grid.rows = static_cast<int>(rows.size());
  grid.columns = static_cast<int>(rows[0].size());
  return grid;
}

json grid_to_json(const Grid& grid) {
  json rows = json::array();
  for (int i = 0; i < grid.rows; ++i) {
    const auto first = grid.cells.begin() + i * grid.columns;
    rows.push_back(std::vector<int>(first, first + grid.columns));
  }
  return rows;
}

std::vector<ArcTask> parse_arc_tasks(const json& challenges, const json& solutions,
                                     const std::string& subset,
                                     const std::string& challenges_source,
                                     const std::string& solutions_source, Unsolved unsolved) {
  require_object(challenges, challenges_source);
  if (challenges.empty()) throw InputError(challenges_source + ": it has no task");
  if (!solutions.is_null()) require_object(solutions, solutions_source);
  std::vector<ArcTask> tasks;
  for (const auto& entry : challenges.items()) {
    const std::string& id = entry.key();
    const std::string named = fmt::format("task {}", base::printable(id));
    Challenge challenge;
    with_source(fmt::format("{}: {}", challenges_source, named),
                [&] { challenge = challenge_from_json(id, entry.value()); });
    if (!solutions.is_null()) {
      with_source(fmt::format("{}: {}", solutions_source, named),
                  [&] { add_solutions(solutions, challenge); });
    } else if (unsolved == Unsolved::refused) {
      with_source(fmt::format("{}: {}", challenges_source, named),
                  [&] { require_solutions(challenge); });
    }
    tasks.push_back(std::move(challenge.task));
    tasks.back().subset = subset;
  }
  return tasks;
}

std::vector<ArcTask> read_arc_subset(const fs::path& folder, const std::string& subset,
                                     Unsolved unsolved) {
  const std::string name = subset + "_challenges.json";
  const auto challenges = prefixed_file(folder, name);
  if (!challenges) {
    throw InputError(
        fmt::format("{}: there is no {}, with or without a prefix", folder.string(), name));
  }
  const auto solutions = prefixed_file(folder, subset + "_solutions.json");
  return parse_arc_tasks(base::read_json(*challenges),
                         solutions ? base::read_json(*solutions) : json(), subset,
                         challenges->string(), solutions ? solutions->string() : "", unsolved);
}

std::map<std::string, ArcTask> test_puzzles_from_json(const json& json, const std::string& source) {
  require_object(json, source);
  std::map<std::string, ArcTask> tasks;
  for (const auto& entry : json.items()) {
    const std::string& id = entry.key();
    with_source(fmt::format("{}: task {}", source, base::printable(id)), [&] {
      ArcTask& added = tasks[id];
      added.id = id;
      for_each_pair(entry.value(), "test", [&](const auto& pair) {
        added.test.push_back({entry_grid(pair, "input"), entry_grid(pair, "output")});
      });
    });
  }
  return tasks;
}

std::map<std::string, ArcTask> read_test_puzzles(const fs::path& path) {
  return test_puzzles_from_json(base::read_json(path), path.string());
}

json arc_task_to_json(const ArcTask& task) {
  return {{"train", pairs_to_json(task.train)}, {"test", pairs_to_json(task.test)}};
}

std::string puzzle_hash(const std::vector<ArcPair>& pairs) {
  std::vector<std::string> hashes;
  for (const ArcPair& pair : pairs) {
    hashes.push_back(grid_hash(pair.input) + "|" + grid_hash(pair.output));
  }
  std::sort(hashes.begin(), hashes.end());
  return base::sha256(fmt::format("{}", fmt::join(hashes, "|")));
}

}  // namespace edelta::data
