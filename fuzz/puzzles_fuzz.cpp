// Whatever the bytes: tasks within ARC's bounds, numbers that the file has, a description that fits
// itself, a puzzle that is written as it was read, or an InputError.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/integer_npy.h"
#include "base/json.h"
#include "data/puzzles/arc_sequence.h"
#include "data/puzzles/arc_tasks.h"
#include "data/puzzles/arc_view.h"
#include "data/puzzles/puzzle_text.h"
#include "edelta/base/error.h"
#include "edelta/data/puzzle_data.h"

namespace {

using namespace edelta;

void check(bool right) {
  if (!right) std::abort();
}

void check_grid(const data::Grid& grid) {
  check(grid.rows >= 1 && grid.rows <= data::kArcSide && grid.columns >= 1 &&
        grid.columns <= data::kArcSide);
  check(grid.cells.size() == static_cast<std::size_t>(grid.rows * grid.columns));
  const auto tokens = data::arc_sequence(grid, 0, 0);
  check(data::crop_arc(std::vector<std::int32_t>(tokens.begin(), tokens.end())) == grid);
}

// Challenges; behind a zero byte solutions.
void tasks(const std::string& text) {
  const std::size_t end = text.find('\0');
  const nlohmann::json solutions =
      end == std::string::npos ? nlohmann::json() : base::parse_json(text.substr(end + 1), "fuzz");
  for (const data::ArcTask& task :
       data::parse_arc_tasks(base::parse_json(text.substr(0, end), "fuzz"), solutions, "fuzz",
                             "fuzz", "fuzz", data::Unsolved::blank)) {
    for (const auto* pairs : {&task.train, &task.test}) {
      for (const data::ArcPair& pair : *pairs) {
        check_grid(pair.input);
        check_grid(pair.output);
      }
    }
  }
}

void numbers(const std::string& bytes) {
  const base::IntegerNpyView view(bytes, "fuzz.npy");
  std::size_t count = 1;
  for (const std::int64_t dimension : view.shape()) count *= static_cast<std::size_t>(dimension);
  check(count <= bytes.size());
  std::vector<std::int64_t> values(count);
  view.read(0, values);
}

void info(const std::string& text) {
  const data::PuzzleInfo info = data::parse_puzzle_info(text, "fuzz");
  check(info.pad_id >= 0 && info.pad_id < info.vocab_size && info.seq_len > 0);
  check(!info.sets.empty() && info.blank_identifier_id < info.num_puzzle_identifiers);
}

void name(const std::string& text) {
  const data::NamedView named = data::parse_view_name(text);
  const data::Grid grid{2, 5, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}};
  check(data::as_before(named.view, data::seen_through(named.view, grid)) == grid);
}

// As people write them: Sudoku and mazes of every size.
void puzzle(const std::string& text) {
  if (text.empty()) return;
  const auto first = static_cast<unsigned char>(text[0]);
  const data::PuzzleShape shape =
      first % 2 == 0
          ? data::PuzzleShape{data::PuzzleKind::sudoku, std::array{4, 6, 9}[first / 2 % 3]}
          : data::PuzzleShape{data::PuzzleKind::maze, 5 + first / 2 % 27};
  const data::PuzzleTokens tokens = data::parse_puzzle(shape, text.substr(1), "fuzz");
  check(tokens.size() == static_cast<std::size_t>(shape.size * shape.size));
  std::string written;
  for (const std::string& row : data::puzzle_rows(shape, tokens)) written += row + "\n";
  check(data::parse_puzzle(shape, written, "fuzz") == tokens);
  data::fault_of(shape, tokens, tokens);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 5) {
      case 0:
        tasks(text);
        break;
      case 1:
        numbers(text);
        break;
      case 2:
        info(text);
        break;
      case 3:
        name(text);
        break;
      default:
        puzzle(text);
    }
  } catch (const edelta::InputError&) {
  }
  return 0;
}
