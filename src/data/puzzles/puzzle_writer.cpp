#include "data/puzzles/puzzle_writer.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/atomic_folder.h"
#include "base/json.h"
#include "data/puzzles/puzzle_files.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;

// Made before the writers of the members below open their files in it.
fs::path made(const fs::path& folder, std::int64_t examples) {
  require_countable(examples);
  base::make_folder(folder);
  return folder;
}

}  // namespace

PuzzleSplitWriter::PuzzleSplitWriter(const fs::path& folder, std::int64_t examples,
                                     const PuzzleInfo& info)
    : folder_(made(folder, examples)),
      info_(info),
      inputs_(folder / puzzle_array_file(kWholeSet, "inputs"), examples, info.seq_len),
      labels_(folder / puzzle_array_file(kWholeSet, "labels"), examples, info.seq_len) {}

void PuzzleSplitWriter::add_example(std::span<const std::uint8_t> input,
                                    std::span<const std::uint8_t> labels) {
  inputs_.add(input);
  labels_.add(labels);
  ++examples_;
}

void PuzzleSplitWriter::end_puzzle(std::int32_t identifier) {
  puzzle_indices_.push_back(static_cast<std::int32_t>(examples_));
  identifiers_.push_back(identifier);
}

void PuzzleSplitWriter::end_group() {
  group_indices_.push_back(static_cast<std::int32_t>(identifiers_.size()));
}

void PuzzleSplitWriter::finish(std::int64_t puzzles) {
  inputs_.commit();
  labels_.commit();
  const auto write = [&](const char* array, const std::vector<std::int32_t>& values) {
    base::write_int32_npy(folder_ / puzzle_array_file(kWholeSet, array), values);
  };
  write("puzzle_identifiers", identifiers_);
  write("puzzle_indices", puzzle_indices_);
  write("group_indices", group_indices_);
  const nlohmann::ordered_json ignored =
      info_.ignore_label_id ? nlohmann::ordered_json(*info_.ignore_label_id) : nullptr;
  const nlohmann::ordered_json info{
      {"pad_id", info_.pad_id},
      {"ignore_label_id", ignored},
      {"blank_identifier_id", info_.blank_identifier_id},
      {"vocab_size", info_.vocab_size},
      {"seq_len", info_.seq_len},
      {"num_puzzle_identifiers", info_.num_puzzle_identifiers},
      {"total_groups", groups()},
      {"mean_puzzle_examples",
       static_cast<double>(examples_) / static_cast<double>(this->puzzles())},
      {"total_puzzles", puzzles},
      {"sets", {kWholeSet}}};
  base::write_json(folder_ / kPuzzleInfoFile, info);
}

void require_countable(std::int64_t examples) {
  if (examples <= std::numeric_limits<std::int32_t>::max()) return;
  throw InputError(
      fmt::format("{} examples are more than the format can number, 2147483647", examples));
}

void write_identifiers(const fs::path& folder, const std::vector<std::string>& names) {
  base::write_text_atomically(folder / kIdentifiersFile, nlohmann::json(names).dump() + "\n");
}

void write_puzzle_options(const fs::path& folder, const nlohmann::ordered_json& options) {
  base::write_json(folder / kPuzzleOptionsFile, options);
}

void write_puzzle_folder(const fs::path& target, bool replace,
                         const nlohmann::ordered_json& options,
                         const std::function<void(const fs::path&)>& fill) {
  base::AtomicFolder writing(target);
  fill(writing.path());
  write_puzzle_options(writing.path(), options);
  require_free_puzzle_folder(target, replace);
  writing.commit(replace, puzzle_folder_names());
}

void require_free_puzzle_folder(const fs::path& folder, bool replace) {
  base::AtomicFolder::check(folder, replace, puzzle_folder_names());
  static const std::set<std::string> of_split{kPuzzleInfoFile,
                                              puzzle_array_file(kWholeSet, "inputs"),
                                              puzzle_array_file(kWholeSet, "labels"),
                                              puzzle_array_file(kWholeSet, "puzzle_identifiers"),
                                              puzzle_array_file(kWholeSet, "puzzle_indices"),
                                              puzzle_array_file(kWholeSet, "group_indices")};
  for (const char* split : {kTrainPuzzles, kTestPuzzles}) {
    base::AtomicFolder::check(folder / split, replace, of_split);
  }
}

}  // namespace edelta::data
