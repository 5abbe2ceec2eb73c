// Puzzles that are made when a run needs them, by their options alone (specification 12.2).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "edelta/base/json_fields.h"
#include "edelta/data/puzzle_data.h"

namespace edelta::data {

enum class PuzzleKind { sudoku, maze };

struct PuzzleTask {
  PuzzleKind kind = PuzzleKind::sudoku;
  std::int64_t size = 4;  // cells on a side
  std::int64_t train = 1000, test = 500;
  std::int64_t views = 0;  // of each training puzzle besides itself
  std::uint64_t seed = 0;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"kind", ""}, self.kind);
    visit(Field{"size", "Cells on a side of puzzles that are made"}, self.size);
    visit(Field{"train", "Training puzzles that are made", "train_size"}, self.train);
    visit(Field{"test", "Test puzzles that are made", "val_size"}, self.test);
    visit(Field{"views", "Views of each training puzzle besides itself"}, self.views);
    visit(Field{"seed", "Seed of the puzzles", "task_seed"}, self.seed);
  }

  // "sudoku4", "maze9"
  std::string name() const;
};

// InputError for options that cannot be.
void validate(const PuzzleTask& task);

// What dataset.json of its folder says of tokens.
PuzzleInfo token_info(const PuzzleTask& task);

// How far the making is. Who throws here stops it.
struct PuzzleProgress {
  const char* doing = "";
  std::int64_t done = 0, all = 0;
};
using OnPuzzleProgress = std::function<void(const PuzzleProgress&)>;

// Makes the folder, whole or not at all; the same options give the same bytes, so that one that
// they made already is left as it is.
void write_puzzles(const std::filesystem::path& folder, const PuzzleTask& task,
                   const OnPuzzleProgress& on_progress = {});

}  // namespace edelta::data
