#include "reproduce/solve_puzzle.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/required_fields.h"
#include "data/puzzles/puzzle_text.h"
#include "edelta/infer/solve.h"
#include "edelta/train/run_folder.h"

namespace edelta::reproduce {
namespace {

using data::PuzzleTokens;
using nlohmann::json;
using nlohmann::ordered_json;
using Rows = std::vector<std::string>;

Rows rows_of(const json& object, const char* key) {
  Rows rows;
  for (const json& row : base::required_list(object, key)) {
    if (!row.is_string()) throw InputError(fmt::format("{}: a row is no text", key));
    rows.push_back(row.get<std::string>());
  }
  return rows;
}

// A grid to be drawn, and whether its wrong cells are marked.
struct DrawnGrid {
  std::string title;
  const Rows& rows;
  bool marked;
};

// A passage would not be seen between others.
std::string shown(char cell) { return cell == ' ' ? "·" : std::string(1, cell); }

}  // namespace

ordered_json solve_puzzle(const SolvePuzzle& request) {
  const train::RunFolder run(request.run);
  const auto model = train::load_recursive_run(run, train::Which::best);
  const models::RecursiveConfig& config = model->config();
  const auto shape = data::puzzle_shape(config.seq_len, config.vocab_size);
  if (!shape) throw InputError(request.run.string() + ": neither Sudoku nor mazes");
  const data::PuzzleData puzzles =
      train::load_run_puzzles(run, run.read_manifest(), "", /*sees_run=*/true);
  const data::PuzzleExample example = data::example_of(puzzles.test, request.test);
  ordered_json steps = ordered_json::array();
  for (const infer::Belief& belief : infer::solve(*model, example.input)) {
    steps.push_back(
        {{"solution", puzzle_rows(*shape, belief.answer)}, {"belief", belief.probability}});
  }
  return {{"puzzle", puzzle_rows(*shape, example.input)},
          {"expected", puzzle_rows(*shape, example.label)},
          {"steps", steps}};
}

PuzzleThought puzzle_thought_from_json(const json& json, const std::string& source) {
  PuzzleThought thought;
  with_source(source, [&] {
    thought.puzzle = rows_of(json, "puzzle");
    const auto fitting = [&](Rows rows) {
      const bool fits =
          std::equal(rows.begin(), rows.end(), thought.puzzle.begin(), thought.puzzle.end(),
                     [](const auto& a, const auto& b) { return a.size() == b.size(); });
      if (!fits || rows.empty()) throw InputError("the grids are not of one size");
      return rows;
    };
    thought.expected = fitting(rows_of(json, "expected"));
    for (const auto& step : base::required_list(json, "steps")) {
      thought.steps.push_back(
          {fitting(rows_of(step, "solution")), base::required_number(step, "belief")});
    }
    if (thought.steps.empty()) throw InputError("steps is empty");
  });
  return thought;
}

std::string drawn(const PuzzleThought& thought) {
  const auto belief = [](const PuzzleThought::Step& step) {
    return fmt::format(" ({:.0f} %)", 100 * step.belief);
  };
  std::vector<DrawnGrid> grids{{"puzzle", thought.puzzle, false}};
  const PuzzleThought::Step &first = thought.steps.front(), &last = thought.steps.back();
  grids.push_back({"step 1" + belief(first), first.answer, true});
  if (thought.steps.size() > 1) {
    grids.push_back(
        {fmt::format("step {}", thought.steps.size()) + belief(last), last.answer, true});
  }
  grids.push_back({"expected", thought.expected, false});
  constexpr size_t kGap = 3;
  std::string text;
  const auto pad = [&](size_t used, size_t width) { text.append(width - used + kGap, ' '); };
  std::vector<size_t> widths;
  for (const DrawnGrid& grid : grids) {
    widths.push_back(std::max(grid.title.size(), 2 * grid.rows.front().size()));
    text += grid.title;
    pad(grid.title.size(), widths.back());
  }
  text += '\n';
  for (size_t row = 0; row < thought.puzzle.size(); ++row) {
    for (size_t g = 0; g < grids.size(); ++g) {
      const std::string& cells = grids[g].rows[row];
      for (size_t column = 0; column < cells.size(); ++column) {
        const bool wrong = grids[g].marked && cells[column] != thought.expected[row][column];
        text += shown(cells[column]) + (wrong ? "×" : " ");
      }
      pad(2 * cells.size(), widths[g]);
    }
    text += '\n';
  }
  // Without the blanks at the ends of lines.
  std::string trimmed;
  for (const char c : text) {
    if (c == '\n') trimmed.erase(trimmed.find_last_not_of(' ') + 1);
    trimmed += c;
  }
  return trimmed;
}

}  // namespace edelta::reproduce
