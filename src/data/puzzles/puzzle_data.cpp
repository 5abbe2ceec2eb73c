#include "edelta/data/puzzle_data.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/checksum.h"
#include "base/input_file.h"
#include "base/integer_npy.h"
#include "base/json.h"
#include "base/printable.h"
#include "base/required_fields.h"
#include "data/puzzles/puzzle_files.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const fs::path& path, const std::string& reason) {
  throw InputError(fmt::format("{}: {}", path.string(), reason));
}

// A name that cannot lead out of its folder.
bool is_set_name(const std::string& name) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), fits);
}

std::int64_t whole(const nlohmann::json& json, const char* key, std::int64_t least) {
  const auto value = base::required<std::int64_t>(json, key);
  if (value < least || value > kMost) {
    throw InputError(fmt::format("{} is {}; it must be from {} to {}", key, value, least, kMost));
  }
  return value;
}

// A token that the model has.
std::int64_t token(const nlohmann::json& json, const char* key, std::int64_t vocab) {
  const std::int64_t value = whole(json, key, 0);
  if (value >= vocab) {
    throw InputError(fmt::format("{} is {}; vocab_size is {}", key, value, vocab));
  }
  return value;
}

PuzzleInfo info_from_json(const nlohmann::json& json) {
  PuzzleInfo info;
  info.vocab_size = whole(json, "vocab_size", 1);
  info.seq_len = whole(json, "seq_len", 1);
  info.num_puzzle_identifiers = whole(json, "num_puzzle_identifiers", 1);
  info.pad_id = token(json, "pad_id", info.vocab_size);
  info.blank_identifier_id = whole(json, "blank_identifier_id", 0);
  if (info.blank_identifier_id >= info.num_puzzle_identifiers) {
    throw InputError(fmt::format("blank_identifier_id is {}; num_puzzle_identifiers is {}",
                                 info.blank_identifier_id, info.num_puzzle_identifiers));
  }
  // null: every label counts.
  if (!base::required_entry(json, "ignore_label_id").is_null()) {
    info.ignore_label_id = base::required<std::int64_t>(json, "ignore_label_id");
  }
  info.total_groups = whole(json, "total_groups", 1);
  info.mean_puzzle_examples = base::required<double>(json, "mean_puzzle_examples");
  if (!(info.mean_puzzle_examples > 0)) {
    throw InputError(
        fmt::format("mean_puzzle_examples is {}; it must be above 0", info.mean_puzzle_examples));
  }
  // Older builders do not write it.
  info.total_puzzles =
      json.contains("total_puzzles") ? whole(json, "total_puzzles", 1) : info.total_groups;
  for (const nlohmann::json& each : base::required_list(json, "sets")) {
    if (!each.is_string() || !is_set_name(each.get<std::string>())) {
      throw InputError("sets must be a list of names of letters, digits, _ and -");
    }
    info.sets.push_back(each.get<std::string>());
  }
  std::vector<std::string> sorted = info.sets;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.empty() || std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw InputError("sets must have a name, and none twice");
  }
  return info;
}

// An array of one dimension.
std::vector<std::int64_t> read_list(const fs::path& path) {
  const base::IntegerNpy file(path);
  if (file.shape().size() != 1) {
    refuse(path, fmt::format("it has the shape [{}]; it must have one dimension",
                             fmt::join(file.shape(), ", ")));
  }
  std::vector<std::int64_t> values(static_cast<std::size_t>(file.shape()[0]));
  file.read(0, values);
  return values;
}

// 0, …, last, each above the one before.
std::vector<std::int64_t> read_offsets(const fs::path& path, std::int64_t last,
                                       const std::string& what) {
  std::vector<std::int64_t> offsets = read_list(path);
  if (offsets.size() < 2 || offsets.front() != 0) {
    refuse(path, "its offsets must begin with 0 and have another");
  }
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] <= offsets[i - 1]) {
      refuse(path, fmt::format("offset {} is {}, after {}; each must be above the one before", i,
                               offsets[i], offsets[i - 1]));
    }
  }
  if (offsets.back() != last) {
    refuse(path, fmt::format("its last offset is {}; there are {} {}", offsets.back(), last, what));
  }
  return offsets;
}

std::vector<std::int32_t> read_identifiers(const fs::path& path, std::int64_t count) {
  const std::vector<std::int64_t> values = read_list(path);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= count) {
      refuse(path,
             fmt::format("identifier {} is {}; num_puzzle_identifiers is {}", i, values[i], count));
    }
  }
  return {values.begin(), values.end()};
}

std::shared_ptr<const base::IntegerNpy> open_rows(const fs::path& path, std::int64_t seq_len) {
  auto file = std::make_shared<const base::IntegerNpy>(path);
  const std::vector<std::int64_t>& shape = file->shape();
  if (shape.size() != 2 || shape[0] < 1 || shape[1] != seq_len) {
    refuse(path, fmt::format("it has the shape [{}]; it must be [examples, {}], the seq_len",
                             fmt::join(shape, ", "), seq_len));
  }
  return file;
}

void copy_row(const base::IntegerNpy& file, std::int64_t row, std::int64_t vocab,
              std::optional<std::int64_t> ignored, std::span<std::int32_t> out) {
  std::vector<std::int64_t> values(out.size());
  file.read(row * static_cast<std::int64_t>(out.size()), values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (ignored && values[i] == *ignored) {
      out[i] = kIgnoredLabel;
    } else if (values[i] >= 0 && values[i] < vocab) {
      out[i] = static_cast<std::int32_t>(values[i]);
    } else {
      refuse(file.path(), fmt::format("row {}, column {} is {}; tokens are below the vocab_size {}",
                                      row, i, values[i], vocab));
    }
  }
}

std::vector<std::string> read_names(const fs::path& path) {
  const nlohmann::json json = base::read_json(path);
  const auto is_string = [](const nlohmann::json& each) { return each.is_string(); };
  if (!json.is_array() || !std::all_of(json.begin(), json.end(), is_string)) {
    refuse(path, "it must be a list of names");
  }
  return json.get<std::vector<std::string>>();
}

}  // namespace

PuzzleInfo parse_puzzle_info(const std::string& text, const std::string& source) {
  const nlohmann::json json = base::parse_json(text, source);
  PuzzleInfo info;
  with_source(source, [&] { info = info_from_json(json); });
  return info;
}

PuzzleSet::PuzzleSet(const fs::path& folder, const std::string& name, const PuzzleInfo& info)
    : info_(info) {
  const auto path = [&](const char* array) { return folder / puzzle_array_file(name, array); };
  inputs_ = open_rows(path("inputs"), info.seq_len);
  labels_ = open_rows(path("labels"), info.seq_len);
  const std::int64_t examples = inputs_->shape()[0];
  if (labels_->shape()[0] != examples) {
    refuse(path("labels"), fmt::format("it has {} rows; {} has {}", labels_->shape()[0],
                                       path("inputs").filename().string(), examples));
  }
  identifiers_ = read_identifiers(path("puzzle_identifiers"), info.num_puzzle_identifiers);
  puzzle_indices_ = read_offsets(path("puzzle_indices"), examples, "examples");
  if (puzzle_indices_.size() != identifiers_.size() + 1) {
    refuse(path("puzzle_indices"),
           fmt::format("it has {} offsets; {} identifiers need one more than they are",
                       puzzle_indices_.size(), identifiers_.size()));
  }
  group_indices_ = read_offsets(path("group_indices"), puzzles(), "puzzles");
}

IndexRange PuzzleSet::puzzles_of(std::int64_t group) const {
  return {group_indices_[group], group_indices_[group + 1]};
}

IndexRange PuzzleSet::examples_of(std::int64_t puzzle) const {
  return {puzzle_indices_[puzzle], puzzle_indices_[puzzle + 1]};
}

void PuzzleSet::copy_inputs(std::int64_t example, std::span<std::int32_t> out) const {
  copy_row(*inputs_, example, info_.vocab_size, {}, out);
}

void PuzzleSet::copy_labels(std::int64_t example, std::span<std::int32_t> out) const {
  copy_row(*labels_, example, info_.vocab_size, info_.ignore_label_id, out);
}

PuzzleExample example_of(const PuzzleSplit& split, std::int64_t number) {
  std::int64_t before = 0;
  for (const PuzzleSet& set : split.sets) {
    const std::int64_t example = number - 1 - before;
    before += set.examples();
    if (example < 0 || example >= set.examples()) continue;
    const auto cells = static_cast<std::size_t>(split.info.seq_len);
    PuzzleExample found{std::vector<std::int32_t>(cells), std::vector<std::int32_t>(cells)};
    set.copy_inputs(example, found.input);
    set.copy_labels(example, found.label);
    return found;
  }
  throw InputError(fmt::format("there is no puzzle {}; there are {}", number, before));
}

bool is_puzzle_folder(const fs::path& folder) {
  return base::is_there(folder / kTrainPuzzles / kPuzzleInfoFile);
}

namespace {

PuzzleInfo read_puzzle_info(const fs::path& path) {
  constexpr std::size_t kMostBytes = 1 << 20;
  return parse_puzzle_info(base::read_text(path, kMostBytes), path.string());
}

}  // namespace

std::set<std::string> puzzle_files(const fs::path& folder) {
  std::set<std::string> names{kIdentifiersFile, kTestPuzzlesFile};
  for (const fs::path split : {kTrainPuzzles, kTestPuzzles}) {
    names.insert(split / kPuzzleInfoFile);
    for (const std::string& set : read_puzzle_info(folder / split / kPuzzleInfoFile).sets) {
      for (const char* array :
           {"inputs", "labels", "puzzle_identifiers", "puzzle_indices", "group_indices"}) {
        names.insert(split / puzzle_array_file(set, array));
      }
    }
  }
  return names;
}

PuzzleSplit read_puzzle_split(const fs::path& folder) {
  const fs::path path = folder / kPuzzleInfoFile;
  PuzzleSplit split{read_puzzle_info(path), {}};
  std::int64_t groups = 0;
  for (const std::string& name : split.info.sets) {
    split.sets.emplace_back(folder, name, split.info);
    groups += split.sets.back().groups();
  }
  if (groups != split.info.total_groups) {
    refuse(path,
           fmt::format("total_groups is {}; the arrays have {}", split.info.total_groups, groups));
  }
  return split;
}

PuzzleData read_puzzle_data(const fs::path& folder) {
  PuzzleData data{
      read_puzzle_split(folder / kTrainPuzzles), read_puzzle_split(folder / kTestPuzzles), {}};
  const auto compare = [&](const char* key, std::int64_t train, std::int64_t test) {
    if (train == test) return;
    refuse(folder, fmt::format("{} is {} in train and {} in test; they must be the same", key,
                               train, test));
  };
  const PuzzleInfo &train = data.train.info, &test = data.test.info;
  compare("seq_len", train.seq_len, test.seq_len);
  compare("vocab_size", train.vocab_size, test.vocab_size);
  compare("pad_id", train.pad_id, test.pad_id);
  compare("blank_identifier_id", train.blank_identifier_id, test.blank_identifier_id);
  compare("num_puzzle_identifiers", train.num_puzzle_identifiers, test.num_puzzle_identifiers);
  const fs::path names = folder / kIdentifiersFile;
  if (!base::is_there(names)) return data;
  data.identifiers = read_names(names);
  if (static_cast<std::int64_t>(data.identifiers.size()) != train.num_puzzle_identifiers) {
    refuse(names, fmt::format("it has {} names; num_puzzle_identifiers is {}",
                              data.identifiers.size(), train.num_puzzle_identifiers));
  }
  return data;
}

std::string check_puzzle_tokens(const PuzzleSplit& split) {
  base::Checksum sum;
  std::vector<std::int32_t> row(static_cast<std::size_t>(split.info.seq_len));
  for (const PuzzleSet& set : split.sets) {
    for (std::int64_t puzzle = 0; puzzle < set.puzzles(); ++puzzle) {
      const auto [begin, end] = set.examples_of(puzzle);
      for (std::int64_t example = begin; example < end; ++example) {
        set.copy_inputs(example, row);
        sum.add(row.data(), row.size() * sizeof(std::int32_t));
        set.copy_labels(example, row);
        sum.add(row.data(), row.size() * sizeof(std::int32_t));
      }
      const std::int32_t marks[]{set.identifier(puzzle), static_cast<std::int32_t>(end)};
      sum.add(marks, sizeof marks);
    }
  }
  return sum.text();
}

}  // namespace edelta::data
