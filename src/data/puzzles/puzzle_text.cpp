#include "data/puzzles/puzzle_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/json.h"
#include "base/printable.h"
#include "data/puzzles/maze.h"
#include "data/puzzles/sudoku.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

constexpr std::string_view kMazeSymbols = "# SGo";  // of tokens 1 to 5
constexpr std::int32_t kBlank = 1;                  // of Sudoku; digit d is d + 1
constexpr int kLargestSide = 30;

// A character of a puzzle as a token; 0 where it is none.
std::int32_t token_of(const PuzzleShape& shape, char symbol) {
  if (shape.kind == PuzzleKind::sudoku) {
    if (symbol == '.') return kBlank;
    const bool digit = symbol >= '0' && symbol <= '0' + shape.size;
    return digit ? symbol - '0' + 1 : 0;
  }
  if (symbol == '.') return kOpen;
  const size_t at = kMazeSymbols.find(symbol);
  return at == std::string_view::npos || at + 1 == kWay ? 0 : static_cast<std::int32_t>(at) + 1;
}

std::string symbols_text(const PuzzleShape& shape) {
  return shape.kind == PuzzleKind::sudoku
             ? fmt::format("digits up to {}, and 0 or . for a blank", shape.size)
             : "#, space or ., S and G";
}

std::int32_t required_token(const PuzzleShape& shape, char symbol) {
  const std::int32_t token = token_of(shape, symbol);
  if (token != 0) return token;
  throw InputError(fmt::format("'{}' is not of {}, which has {}",
                               base::escaped(std::string(1, symbol)), shape.name(),
                               symbols_text(shape)));
}

using Rows = std::vector<PuzzleTokens>;

PuzzleTokens row_of(const PuzzleShape& shape, std::string_view text) {
  PuzzleTokens row;
  for (const char symbol : text) row.push_back(required_token(shape, symbol));
  return row;
}

// Numbers of a Sudoku are its digits, those of a maze its tokens.
std::int32_t token_from_json(const PuzzleShape& shape, const nlohmann::json& cell) {
  if (cell.is_string() && cell.get_ref<const std::string&>().size() == 1) {
    return required_token(shape, cell.get_ref<const std::string&>()[0]);
  }
  const bool sudoku = shape.kind == PuzzleKind::sudoku;
  const std::int64_t least = sudoku ? 0 : kWall, most = sudoku ? shape.size : kGoal;
  if (!cell.is_number_integer() || cell < least || cell > most) {
    throw InputError(fmt::format("{} is no cell of {}: cells are from {} to {}", cell.dump(),
                                 shape.name(), least, most));
  }
  return cell.get<std::int32_t>() + (sudoku ? 1 : 0);
}

Rows rows_from_json(const PuzzleShape& shape, const nlohmann::json& json) {
  if (!json.is_array()) throw InputError("it must be a list of rows");
  if (json.size() > kLargestSide) {
    throw InputError(
        fmt::format("it has {} rows; grids have at most {}", json.size(), kLargestSide));
  }
  Rows rows;
  for (const nlohmann::json& each : json) {
    if (each.is_string()) {
      rows.push_back(row_of(shape, each.get_ref<const std::string&>()));
      continue;
    }
    if (!each.is_array()) throw InputError("its rows must be strings or lists");
    PuzzleTokens& row = rows.emplace_back();
    for (const nlohmann::json& cell : each) row.push_back(token_from_json(shape, cell));
  }
  return rows;
}

Rows rows_of_maze(const PuzzleShape& shape, std::string_view text) {
  Rows rows;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (!line.empty()) rows.push_back(row_of(shape, line));
  }
  return rows;
}

PuzzleTokens cells_of(const PuzzleShape& shape, const Rows& rows) {
  const auto size = static_cast<size_t>(shape.size);
  PuzzleTokens cells;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].size() != size) {
      throw InputError(
          fmt::format("row {} has {} cells; {} has {}", i + 1, rows[i].size(), shape.name(), size));
    }
    cells.insert(cells.end(), rows[i].begin(), rows[i].end());
  }
  if (rows.size() != size) {
    throw InputError(fmt::format("it has {} rows; {} has {}", rows.size(), shape.name(), size));
  }
  return cells;
}

PuzzleTokens cells_of_sudoku(const PuzzleShape& shape, const std::string& text) {
  PuzzleTokens cells;
  for (const char symbol : text) {
    if (std::string_view(" \t\r\n").find(symbol) != std::string_view::npos) continue;
    cells.push_back(required_token(shape, symbol));
  }
  const auto wanted = static_cast<size_t>(shape.size * shape.size);
  if (cells.size() != wanted) {
    throw InputError(fmt::format("it has {} cells; {} has {}", cells.size(), shape.name(), wanted));
  }
  return cells;
}

// "row 2 has 3 twice", for the first row, column or box that has a digit twice; else empty.
std::string repetition(const PuzzleShape& shape, const PuzzleTokens& cells) {
  const SudokuShape sudoku = sudoku_shape(shape.size);
  const int boxes_across = shape.size / sudoku.box_columns;
  for (const char* unit : {"row", "column", "box"}) {
    std::vector<std::vector<bool>> seen(shape.size, std::vector<bool>(shape.size + 1));
    for (int cell = 0; cell < shape.size * shape.size; ++cell) {
      const int digit = cells[cell] - 1;
      if (digit < 1) continue;
      const int row = cell / shape.size, column = cell % shape.size;
      const int place = *unit == 'r' ? row
                        : *unit == 'c'
                            ? column
                            : row / sudoku.box_rows * boxes_across + column / sudoku.box_columns;
      if (seen[place][digit]) return fmt::format("{} {} has {} twice", unit, place + 1, digit);
      seen[place][digit] = true;
    }
  }
  return {};
}

std::string place_text(const PuzzleShape& shape, int cell) {
  return fmt::format("row {}, column {}", cell / shape.size + 1, cell % shape.size + 1);
}

std::string fault_of_sudoku(const PuzzleShape& shape, const PuzzleTokens& puzzle,
                            const PuzzleTokens& answer) {
  for (int cell = 0; cell < shape.size * shape.size; ++cell) {
    const int digit = answer[cell] - 1;
    if (digit < 1 || digit > shape.size) {
      return fmt::format("{} has no digit", place_text(shape, cell));
    }
    if (puzzle[cell] != kBlank && puzzle[cell] != answer[cell]) {
      return fmt::format("{} was given as {}", place_text(shape, cell), puzzle[cell] - 1);
    }
  }
  return repetition(shape, answer);
}

// The cells that are open, and those that are not of the puzzle's own, as walls.
Grid maze_of(const PuzzleShape& shape, const PuzzleTokens& cells) {
  Grid grid{shape.size, shape.size, {}};
  for (const std::int32_t token : cells) grid.cells.push_back(static_cast<std::uint8_t>(token));
  return grid;
}

int only(const PuzzleTokens& cells, MazeCell token, const char* name) {
  const auto count = std::count(cells.begin(), cells.end(), token);
  if (count != 1) throw InputError(fmt::format("it has {} {}; it must have one", count, name));
  return static_cast<int>(std::find(cells.begin(), cells.end(), token) - cells.begin());
}

int steps_to_goal(const PuzzleShape& shape, const PuzzleTokens& cells) {
  const int start = only(cells, kStart, "starts (S)"), goal = only(cells, kGoal, "goals (G)");
  return distances_from(maze_of(shape, cells), start).steps[goal];
}

std::string fault_of_maze(const PuzzleShape& shape, const PuzzleTokens& puzzle,
                          const PuzzleTokens& answer) {
  // Of the passages only the way is left open: it must lead to the goal, with no cell to spare.
  PuzzleTokens way = answer;
  int marked = 0;
  for (int cell = 0; cell < shape.size * shape.size; ++cell) {
    const bool on_way = answer[cell] == kWay;
    marked += on_way ? 1 : 0;
    if (answer[cell] != puzzle[cell] && !(on_way && puzzle[cell] == kOpen)) {
      return fmt::format("{} is no longer what it was", place_text(shape, cell));
    }
    if (on_way) way[cell] = kOpen;
    if (answer[cell] == kOpen) way[cell] = kWall;
  }
  const int steps = steps_to_goal(shape, way);
  if (steps < 0) return "the way does not lead from S to G";
  if (steps != marked + 1) return fmt::format("{} marks are not on the way", marked + 1 - steps);
  const int shortest = steps_to_goal(shape, puzzle);
  if (steps != shortest) {
    return fmt::format("the way has {} steps, and there is one of {}", steps, shortest);
  }
  return {};
}

void require_possible(const PuzzleShape& shape, const PuzzleTokens& cells) {
  if (shape.kind == PuzzleKind::sudoku) {
    const std::string contradiction = repetition(shape, cells);
    if (!contradiction.empty()) throw InputError("the givens contradict: " + contradiction);
    SudokuBoard board;
    for (const std::int32_t token : cells) board.push_back(static_cast<std::uint8_t>(token - 1));
    // A few givens may contradict each other in a way that takes hours to find: then they stand.
    constexpr std::int64_t kMostDeadEnds = 1'000'000;
    const SudokuSearch search =
        solve_sudoku(sudoku_shape(shape.size), board, /*limit=*/1, kMostDeadEnds);
    if (search.solutions == 0 && search.dead_ends < kMostDeadEnds) {
      throw InputError("the givens contradict: there is no solution");
    }
  } else if (steps_to_goal(shape, cells) < 0) {
    throw InputError("there is no way from S to G");
  }
}

}  // namespace

std::string PuzzleShape::name() const {
  return fmt::format("a {0}×{0} {1}", size, kind == PuzzleKind::sudoku ? "Sudoku" : "maze");
}

std::optional<PuzzleShape> puzzle_shape(std::int64_t seq_len, std::int64_t vocab_size) {
  for (const int size : {4, 6, 9}) {
    if (seq_len == size * size && vocab_size == size + 2) {
      return PuzzleShape{PuzzleKind::sudoku, size};
    }
  }
  for (int size = 1; size <= kLargestSide && vocab_size == kMazeVocab; ++size) {
    if (seq_len == size * size) return PuzzleShape{PuzzleKind::maze, size};
  }
  return std::nullopt;
}

PuzzleTokens parse_puzzle(const PuzzleShape& shape, const std::string& text,
                          const std::string& source) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) throw InputError(source + ": there is no puzzle");
  PuzzleTokens cells;
  if (text[begin] == '[' || text[begin] == '{') {
    const nlohmann::json json = base::parse_json(text, source);
    with_source(source, [&] { cells = cells_of(shape, rows_from_json(shape, json)); });
  } else {
    with_source(source, [&] {
      cells = shape.kind == PuzzleKind::sudoku ? cells_of_sudoku(shape, text)
                                               : cells_of(shape, rows_of_maze(shape, text));
    });
  }
  with_source(source, [&] { require_possible(shape, cells); });
  return cells;
}

char puzzle_symbol(const PuzzleShape& shape, std::int32_t token) {
  if (shape.kind == PuzzleKind::sudoku) {
    if (token == kBlank) return '.';
    return token > kBlank && token <= shape.size + 1 ? static_cast<char>('0' + token - 1) : '?';
  }
  return token >= kWall && token <= kWay ? kMazeSymbols[token - 1] : '?';
}

std::vector<std::string> puzzle_rows(const PuzzleShape& shape, const PuzzleTokens& cells) {
  std::vector<std::string> rows(static_cast<std::size_t>(shape.size));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    rows.at(i / rows.size()) += puzzle_symbol(shape, cells[i]);
  }
  return rows;
}

std::string fault_of(const PuzzleShape& shape, const PuzzleTokens& puzzle,
                     const PuzzleTokens& answer) {
  return shape.kind == PuzzleKind::sudoku ? fault_of_sudoku(shape, puzzle, answer)
                                          : fault_of_maze(shape, puzzle, answer);
}

}  // namespace edelta::data
