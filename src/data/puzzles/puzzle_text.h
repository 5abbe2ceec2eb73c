// Sudoku and mazes as people write them, and whether an answer keeps to the rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "edelta/data/puzzle_task.h"

namespace edelta::data {

struct PuzzleShape {
  PuzzleKind kind = PuzzleKind::sudoku;
  int size = 4;  // cells on a side

  std::string name() const;  // "a 4×4 Sudoku"
};

// What a model of so many cells and tokens solves; nothing where it is neither.
std::optional<PuzzleShape> puzzle_shape(std::int64_t seq_len, std::int64_t vocab_size);

using PuzzleTokens = std::vector<std::int32_t>;

// Sudoku: digits, 0 or . for a blank, whatever spaces and lines between them. Mazes: lines of "#
// SG", where . is a passage as well as the space. Both: JSON, a list of rows, each a string of
// these characters or a list of digits (of mazes: of tokens). InputError, one line that names
// `source`, for anything else, for givens that contradict each other, and for mazes without a way.
PuzzleTokens parse_puzzle(const PuzzleShape& shape, const std::string& text,
                          const std::string& source);

// How a token is written; ? where it is none of the puzzle's.
char puzzle_symbol(const PuzzleShape& shape, std::int32_t token);

// A grid of tokens as rows of these.
std::vector<std::string> puzzle_rows(const PuzzleShape& shape, const PuzzleTokens& cells);

// Empty where the answer is right by the rules, else the first thing that is wrong with it.
std::string fault_of(const PuzzleShape& shape, const PuzzleTokens& puzzle,
                     const PuzzleTokens& answer);

}  // namespace edelta::data
