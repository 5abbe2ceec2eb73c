// Folders of puzzles, in the format that the published builders write and trainers read
// (specification 12.1).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace edelta::base {
class IntegerNpy;
}

namespace edelta::data {

// A label that is not asked for, whatever number a file gives it.
inline constexpr std::int32_t kIgnoredLabel = -100;

// dataset.json of one split.
struct PuzzleInfo {
  std::int64_t pad_id = 0;
  std::optional<std::int64_t> ignore_label_id = {};
  std::int64_t blank_identifier_id = 0;
  std::int64_t vocab_size = 0;
  std::int64_t seq_len = 0;
  std::int64_t num_puzzle_identifiers = 0;
  std::int64_t total_groups = 0;
  double mean_puzzle_examples = 0;
  std::int64_t total_puzzles = 0;
  std::vector<std::string> sets = {};
};

struct IndexRange {
  std::int64_t begin = 0, end = 0;
};

// One set of a split: groups (tasks) of puzzles (views of the task) of examples. Inputs and labels
// are mapped, not loaded; copies share the mapping.
class PuzzleSet {
 public:
  // FOLDER/NAME__*.npy; InputError where they do not fit each other or `info`.
  PuzzleSet(const std::filesystem::path& folder, const std::string& name, const PuzzleInfo& info);

  std::int64_t examples() const { return puzzle_indices_.back(); }
  std::int64_t puzzles() const { return static_cast<std::int64_t>(identifiers_.size()); }
  std::int64_t groups() const { return static_cast<std::int64_t>(group_indices_.size()) - 1; }

  IndexRange puzzles_of(std::int64_t group) const;
  IndexRange examples_of(std::int64_t puzzle) const;
  std::int32_t identifier(std::int64_t puzzle) const { return identifiers_[puzzle]; }

  // The seq_len tokens of an example; kIgnoredLabel where a label is ignore_label_id. InputError
  // where a file was shortened, or a token is outside the vocabulary.
  void copy_inputs(std::int64_t example, std::span<std::int32_t> out) const;
  void copy_labels(std::int64_t example, std::span<std::int32_t> out) const;

 private:
  PuzzleInfo info_;
  std::shared_ptr<const base::IntegerNpy> inputs_, labels_;
  std::vector<std::int64_t> puzzle_indices_, group_indices_;
  std::vector<std::int32_t> identifiers_;
};

// FOLDER/train or FOLDER/test.
struct PuzzleSplit {
  PuzzleInfo info;
  std::vector<PuzzleSet> sets;
};

struct PuzzleData {
  PuzzleSplit train, test;
  std::vector<std::string> identifiers;  // names by identifier; a foreign folder may have none
};

// An example's tokens.
struct PuzzleExample {
  std::vector<std::int32_t> input, label;
};
// The number-th of a split, from 1; InputError where there are fewer.
PuzzleExample example_of(const PuzzleSplit& split, std::int64_t number);

// Has a train/dataset.json.
bool is_puzzle_folder(const std::filesystem::path& folder);

// InputError, one line, for whatever does not fit: files that are missing or malformed, shapes,
// offsets, identifiers, splits that differ. Tokens are looked at when they are read, or by
// check_puzzle_tokens().
PuzzleSplit read_puzzle_split(const std::filesystem::path& folder);
PuzzleData read_puzzle_data(const std::filesystem::path& folder);

// Reads every example once: InputError with the file and the row where a token is outside the
// vocabulary. Returns a checksum of what a model sees.
std::string check_puzzle_tokens(const PuzzleSplit& split);

// dataset.json's text; `source` for messages.
PuzzleInfo parse_puzzle_info(const std::string& text, const std::string& source);

}  // namespace edelta::data
