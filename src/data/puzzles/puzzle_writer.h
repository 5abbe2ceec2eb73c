// Writes folders of puzzles (specification 12.1).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/integer_npy.h"
#include "edelta/data/puzzle_data.h"
#include "edelta/data/puzzle_task.h"

namespace edelta::data {

// One split. Examples go to the disk as they come: a data set of ARC has gigabytes of them.
class PuzzleSplitWriter {
 public:
  // `info` has the tokens and identifiers; counts are the writer's to fill in.
  PuzzleSplitWriter(const std::filesystem::path& folder, std::int64_t examples,
                    const PuzzleInfo& info);

  void add_example(std::span<const std::uint8_t> input, std::span<const std::uint8_t> labels);
  void end_puzzle(std::int32_t identifier);
  void end_group();
  // With `puzzles` as total_puzzles: published Sudoku and maze data count groups there.
  void finish(std::int64_t puzzles);

  std::int64_t examples() const { return examples_; }
  std::int64_t puzzles() const { return static_cast<std::int64_t>(identifiers_.size()); }
  std::int64_t groups() const { return static_cast<std::int64_t>(group_indices_.size()) - 1; }

 private:
  std::filesystem::path folder_;
  PuzzleInfo info_;
  base::ByteRowsWriter inputs_, labels_;
  std::int64_t examples_ = 0;
  std::vector<std::int32_t> puzzle_indices_{0}, group_indices_{0}, identifiers_;
};

// Offsets are int32 in the format: InputError for more examples than it can number.
void require_countable(std::int64_t examples);

// identifiers.json: names[0] is the blank.
void write_identifiers(const std::filesystem::path& folder, const std::vector<std::string>& names);

// puzzles.json, with which a folder says what it was asked to be.
void write_puzzle_options(const std::filesystem::path& folder,
                          const nlohmann::ordered_json& options);

// A folder that appears whole or not at all: `fill` writes into it, and puzzles.json gets
// `options`.
void write_puzzle_folder(const std::filesystem::path& target, bool replace,
                         const nlohmann::ordered_json& options,
                         const std::function<void(const std::filesystem::path&)>& fill);

}  // namespace edelta::data
