// edelta solve: a recursive run's answer to one puzzle, and whether it is right by the rules.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "cli/commands.h"
#include "cli/print_json.h"
#include "cli/run_options.h"
#include "cli/standard_input.h"
#include "cli/standard_streams.h"
#include "cli/terminal.h"
#include "data/puzzles/puzzle_text.h"
#include "data/puzzles/sudoku.h"
#include "edelta/base/error.h"
#include "edelta/infer/solve.h"

namespace edelta::cli {
namespace {

using data::PuzzleShape;
using data::PuzzleTokens;
using infer::Belief;
using nlohmann::ordered_json;

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

struct SolveOptions : RunOptions {
  std::string puzzle = kStandardStream;
  int64_t test = 0;  // one of the run's own instead, from 1
  bool steps = false;
};

// What is to be solved, and the answer where it is known.
struct Exercise {
  PuzzleTokens puzzle;
  PuzzleTokens expected = {};
};

// A cell, with what the model filled in set off from what was given.
std::string cell_text(const PuzzleShape& shape, int32_t given, int32_t answer) {
  const std::string symbol(1, data::puzzle_symbol(shape, answer));
  const bool filled = given != answer;
  return filled && output_has_colours() ? "\033[1;32m" + symbol + "\033[0m" : symbol;
}

// As parse_puzzle() takes it, too.
std::string grid_text(const PuzzleShape& shape, const PuzzleTokens& puzzle,
                      const PuzzleTokens& answer) {
  const bool sudoku = shape.kind == data::PuzzleKind::sudoku;
  const data::SudokuShape boxes = sudoku ? data::sudoku_shape(shape.size) : data::SudokuShape();
  std::string text;
  for (int row = 0; row < shape.size; ++row) {
    if (sudoku && row > 0 && row % boxes.box_rows == 0) text += '\n';
    for (int column = 0; column < shape.size; ++column) {
      if (sudoku && column > 0) text += column % boxes.box_columns == 0 ? "  " : " ";
      const int cell = row * shape.size + column;
      text += cell_text(shape, puzzle[cell], answer[cell]);
    }
    text += '\n';
  }
  return text;
}

void print_beliefs(const SolveOptions& options, const PuzzleShape& shape, const Exercise& exercise,
                   const std::vector<Belief>& beliefs) {
  const PuzzleTokens& puzzle = exercise.puzzle;
  // Nobody has typed it.
  if (options.test > 0) {
    fmt::print("test puzzle {}:\n{}\n", options.test, grid_text(shape, puzzle, puzzle));
  }
  for (size_t i = 0; i < beliefs.size(); ++i) {
    const bool last = i + 1 == beliefs.size();
    if (!last && !options.steps) continue;
    if (options.steps) {
      fmt::print("{}after step {}, believed with {:.0f} %:\n", i > 0 ? "\n" : "", i + 1,
                 100 * beliefs[i].probability);
    }
    if (options.test > 0 && !options.steps) fmt::print("answer:\n");
    fmt::print("{}", grid_text(shape, puzzle, beliefs[i].answer));
  }
  const std::string fault = fault_of(shape, puzzle, beliefs.back().answer);
  fmt::print("\n{}\n", fault.empty() ? "valid by the rules" : "not valid: " + fault);
}

void print_beliefs_json(const SolveOptions& options, const PuzzleShape& shape,
                        const Exercise& exercise, const std::vector<Belief>& beliefs) {
  const PuzzleTokens& puzzle = exercise.puzzle;
  const std::string fault = fault_of(shape, puzzle, beliefs.back().answer);
  ordered_json out{{"run", options.run},
                   {"weights", options.which},
                   {"kind", enum_to_string(shape.kind)},
                   {"size", shape.size},
                   {"puzzle", puzzle_rows(shape, puzzle)},
                   {"solution", puzzle_rows(shape, beliefs.back().answer)},
                   {"belief", beliefs.back().probability},
                   {"valid", fault.empty()}};
  if (!fault.empty()) out["fault"] = fault;
  if (!exercise.expected.empty()) out["expected"] = puzzle_rows(shape, exercise.expected);
  if (options.steps) {
    ordered_json& steps = out["steps"] = ordered_json::array();
    for (const Belief& belief : beliefs) {
      steps.push_back({{"solution", puzzle_rows(shape, belief.answer)},
                       {"belief", belief.probability},
                       {"valid", fault_of(shape, puzzle, belief.answer).empty()}});
    }
  }
  print_json(out);
}

Exercise given_exercise(const SolveOptions& options, const PuzzleShape& shape) {
  const bool stream = options.puzzle == kStandardStream;
  const std::string text =
      stream ? read_standard_input(kMostBytes) : base::read_text(options.puzzle, kMostBytes);
  return {data::parse_puzzle(shape, text, stream ? "standard input" : options.puzzle)};
}

Exercise test_exercise(const SolveOptions& options) {
  const train::RunFolder run = options.folder();
  const data::PuzzleData puzzles =
      train::load_run_puzzles(run, run.read_manifest(), options.data, /*sees_run=*/true);
  const data::PuzzleExample found = data::example_of(puzzles.test, options.test);
  return {found.input, found.label};
}

void run_solve(const SolveOptions& options) {
  const auto model = load_recursive_run(options.folder(), options.weights());
  const models::RecursiveConfig& config = model->config();
  const auto shape = data::puzzle_shape(config.seq_len, config.vocab_size);
  if (!shape) {
    throw InputError(
        fmt::format("{}: its puzzles are neither Sudoku nor mazes; see edelta eval", options.run));
  }
  const Exercise exercise =
      options.test > 0 ? test_exercise(options) : given_exercise(options, *shape);
  const std::vector<Belief> beliefs = infer::solve(*model, exercise.puzzle);
  options.json ? print_beliefs_json(options, *shape, exercise, beliefs)
               : print_beliefs(options, *shape, exercise, beliefs);
}

}  // namespace

void add_solve(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("solve", "Solve a Sudoku or a maze with a run, and check the answer");
  auto options = std::make_shared<SolveOptions>();
  add_run_options(*command, *options);
  add_data_option(*command, *options);
  CLI::Option* puzzle =
      command->add_option("PUZZLE", options->puzzle, "File with the puzzle; - is standard input")
          ->type_name("FILE")
          ->capture_default_str();
  command->add_option("--test", options->test, "One of the run's own test puzzles, from 1")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000'000}))
      ->excludes(puzzle);
  command->add_flag("--steps", options->steps, "Show what the model believes after each step");
  command->footer(
      "A Sudoku is its digits, 0 or . for a blank, with any spaces and lines between them. A maze\n"
      "is lines of #, space or . for a passage, S and G; the way is marked o. JSON is taken too:\n"
      "a list of rows, each a string or a list of numbers.\n\n"
      "Examples:\n  echo '1... ..21 .1.. 2..4' | edelta solve runs/mine\n"
      "  edelta solve runs/mine maze.txt --steps\n"
      "  edelta solve runs/mine --test 1 --steps");
  command->callback([options] { run_solve(*options); });
}

}  // namespace edelta::cli
