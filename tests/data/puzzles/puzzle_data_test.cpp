#include "edelta/data/puzzle_data.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/integer_npy.h"
#include "base/json.h"
#include "data/puzzles/puzzle_files.h"
#include "data/puzzles/puzzle_writer.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_error;
using test::TemporaryFolder;

using Row = std::vector<std::uint8_t>;

// Two groups: one of two puzzles with two and one examples, one of a puzzle with one.
void write_split(const fs::path& folder) {
  PuzzleSplitWriter writer(folder, 4,
                           {.pad_id = 0,
                            .ignore_label_id = 0,
                            .vocab_size = 12,
                            .seq_len = 3,
                            .num_puzzle_identifiers = 4});
  writer.add_example(Row{1, 2, 3}, Row{0, 5, 6});
  writer.add_example(Row{4, 5, 6}, Row{7, 8, 9});
  writer.end_puzzle(2);
  writer.add_example(Row{7, 8, 9}, Row{10, 11, 0});
  writer.end_puzzle(1);
  writer.end_group();
  writer.add_example(Row{0, 0, 11}, Row{1, 1, 1});
  writer.end_puzzle(3);
  writer.end_group();
  writer.finish(writer.puzzles());
}

void write_folder(const fs::path& folder) {
  write_split(folder / "train");
  write_split(folder / "test");
  write_identifiers(folder, {"<blank>", "a", "b", "c"});
}

TEST(PuzzleData, RoundTrips) {
  const TemporaryFolder folder;
  EXPECT_FALSE(is_puzzle_folder(folder.path()));
  write_folder(folder.path());
  EXPECT_TRUE(is_puzzle_folder(folder.path()));
  const PuzzleData data = read_puzzle_data(folder.path());
  EXPECT_EQ(data.identifiers, (std::vector<std::string>{"<blank>", "a", "b", "c"}));
  EXPECT_EQ(data.train.info.total_groups, 2);
  EXPECT_EQ(data.train.info.total_puzzles, 3);
  EXPECT_DOUBLE_EQ(data.train.info.mean_puzzle_examples, 4.0 / 3);
  EXPECT_EQ(data.train.info.sets, (std::vector<std::string>{"all"}));
  const PuzzleSet& set = data.train.sets.at(0);
  EXPECT_EQ(set.examples(), 4);
  EXPECT_EQ(set.puzzles(), 3);
  EXPECT_EQ(set.groups(), 2);
  EXPECT_EQ(set.puzzles_of(0).end, 2);
  EXPECT_EQ(set.puzzles_of(1).begin, 2);
  EXPECT_EQ(set.examples_of(1).begin, 2);
  EXPECT_EQ(set.examples_of(1).end, 3);
  EXPECT_EQ(set.identifier(0), 2);
  EXPECT_EQ(set.identifier(2), 3);
  std::vector<std::int32_t> row(3);
  set.copy_labels(3, row);
  EXPECT_EQ(example_of(data.train, 4).label, row);
  expect_error<InputError>([&] { example_of(data.train, 5); }, "there are 4");
  expect_error<InputError>([&] { example_of(data.train, 0); }, "no puzzle 0");
  set.copy_inputs(2, row);
  EXPECT_EQ(example_of(data.train, 3).input, row);
  EXPECT_EQ(row, (std::vector<std::int32_t>{7, 8, 9}));
  set.copy_labels(2, row);
  EXPECT_EQ(row, (std::vector<std::int32_t>{10, 11, kIgnoredLabel}));
  set.copy_inputs(3, row);
  EXPECT_EQ(row, (std::vector<std::int32_t>{0, 0, 11}));  // 0 is ignored in labels alone
  EXPECT_EQ(check_puzzle_tokens(data.train), check_puzzle_tokens(data.test));
}

// A copy of a good folder with one thing changed is refused, and the message says why.
void refuse(const std::function<void(const fs::path&)>& damage, const std::string& file,
            const std::string& reason) {
  static const TemporaryFolder good;
  if (good.entries() == 0) write_folder(good.path());
  const TemporaryFolder folder;
  fs::copy(good.path(), folder.path(), fs::copy_options::recursive);
  damage(folder.path());
  expect_error<InputError>(
      [&] {
        check_puzzle_tokens(read_puzzle_split(folder / "train"));
        read_puzzle_data(folder.path());
      },
      file, reason);
}

void refuse_info(const std::string& key, const json& value, const std::string& reason) {
  refuse(
      [&](const fs::path& folder) {
        json info = base::read_json(folder / "train" / "dataset.json");
        info[key] = value;
        base::write_json(folder / "train" / "dataset.json", info);
      },
      "", reason);
}

void refuse_list(const std::string& array, const std::vector<std::int32_t>& values,
                 const std::string& reason) {
  const std::string file = "all__" + array + ".npy";
  refuse([&](const fs::path& folder) { base::write_int32_npy(folder / "train" / file, values); },
         file, reason);
}

TEST(PuzzleData, RefusesInfoThatDoesNotFit) {
  refuse_info("seq_len", 4, "[examples, 4]");
  refuse_info("seq_len", 0, "from 1");
  refuse_info("seq_len", "three", "whole number");
  refuse_info("vocab_size", 11, "row 2, column 1 is 11");
  refuse_info("vocab_size", -5, "vocab_size is -5");
  refuse_info("vocab_size", 1e18, "vocab_size");
  refuse_info("pad_id", 12, "pad_id is 12; vocab_size is 12");
  refuse_info("blank_identifier_id", 4, "blank_identifier_id is 4");
  refuse_info("num_puzzle_identifiers", 3, "identifier 2 is 3");
  refuse_info("num_puzzle_identifiers", 5, "5 in train and 4 in test");
  refuse_info("total_groups", 3, "total_groups is 3; the arrays have 2");
  refuse_info("mean_puzzle_examples", 0, "above 0");
  refuse_info("sets", json::array(), "sets");
  refuse_info("sets", {"all", "all"}, "none twice");
  refuse_info("sets", {"../train/all"}, "letters");
  refuse_info("sets", {"other"}, "other__inputs.npy");
  refuse_info("sets", "all", "sets must be a list");
  refuse_info("ignore_label_id", "none", "ignore_label_id");
}

TEST(PuzzleData, RefusesArraysThatDoNotFit) {
  refuse_list("puzzle_indices", {0, 2, 3, 5}, "its last offset is 5; there are 4 examples");
  refuse_list("puzzle_indices", {0, 2, 2, 4}, "offset 2 is 2, after 2");
  refuse_list("puzzle_indices", {0, 3, 2, 4}, "offset 2 is 2, after 3");
  refuse_list("puzzle_indices", {1, 2, 3, 4}, "begin with 0");
  refuse_list("puzzle_indices", {0, 1, 2, 3, 4}, "5 offsets; 3 identifiers");
  refuse_list("puzzle_indices", {}, "begin with 0");
  refuse_list("group_indices", {0, 2, 4}, "its last offset is 4; there are 3 puzzles");
  refuse_list("group_indices", {0, -1, 3}, "offset 1 is -1");
  refuse_list("puzzle_identifiers", {0, 1, -1}, "identifier 2 is -1");
  refuse_list("inputs", {1, 2, 3}, "it has the shape [3]");
  const auto in_train = [](const std::string& file, const auto& change) {
    return [=](const fs::path& folder) { change(folder / "train" / file); };
  };
  refuse(in_train("all__labels.npy",
                  [](const fs::path& path) {
                    base::ByteRowsWriter rows(path, 1, 3);
                    rows.add(Row{1, 2, 3});
                    rows.commit();
                  }),
         "all__labels.npy", "it has 1 rows; all__inputs.npy has 4");
  refuse(in_train("all__group_indices.npy",
                  [](const fs::path& path) {
                    base::ByteRowsWriter rows(path, 1, 3);
                    rows.add(Row{0, 2, 3});
                    rows.commit();
                  }),
         "all__group_indices.npy", "one dimension");
  refuse(in_train("all__inputs.npy", [](const fs::path& path) { fs::resize_file(path, 130); }),
         "all__inputs.npy", "there are");
  refuse(in_train("all__inputs.npy", [](const fs::path& path) { fs::remove(path); }),
         "all__inputs.npy", "");
  refuse([](const fs::path& folder) { fs::remove_all(folder / "test"); }, "dataset.json", "");
  const auto names = [](const std::string& text) {
    return [=](const fs::path& folder) {
      base::write_text_atomically(folder / "identifiers.json", text);
    };
  };
  refuse(names(R"(["<blank>", "a"])"), "identifiers.json", "it has 2 names");
  refuse(names(R"({"a": 1})"), "identifiers.json", "a list of names");
  refuse(names("[1,2,3,4]"), "identifiers.json", "a list of names");
  refuse(names("[\"<blank>\""), "identifiers.json", "");
}

// int64 arrays and what older builders leave out.
TEST(PuzzleData, ReadsFoldersOfOtherBuilders) {
  const TemporaryFolder folder;
  write_folder(folder.path());
  fs::remove(folder / "identifiers.json");
  for (const char* split : {"train", "test"}) {
    const fs::path path = folder / split / "dataset.json";
    json info = base::read_json(path);
    info.erase("total_puzzles");
    info["ignore_label_id"] = nullptr;
    info["something_else"] = 1;
    base::write_json(path, info);
  }
  std::string rows = base::format_npy_prelude({{'i', 8}, false, false, {4, 3}});
  for (std::int64_t i = 0; i < 12; ++i) {
    rows.append(reinterpret_cast<const char*>(&i), sizeof i);
  }
  base::write_text_atomically(folder / "train" / "all__labels.npy", rows);
  const PuzzleData data = read_puzzle_data(folder.path());
  std::vector<std::int32_t> row(3);
  data.train.sets[0].copy_labels(0, row);
  EXPECT_EQ(row, (std::vector<std::int32_t>{0, 1, 2}));  // nothing is ignored
  EXPECT_TRUE(data.identifiers.empty());
  EXPECT_NE(check_puzzle_tokens(data.train), check_puzzle_tokens(data.test));
}

TEST(PuzzleFolder, AppearsWholeAndIsReplacedOnlyWhenAsked) {
  const TemporaryFolder folder;
  const fs::path target = folder / "puzzles";
  const auto write = [&](bool replace) {
    write_puzzle_folder(target, replace, {{"kind", "none"}}, write_folder);
  };
  expect_error<InputError>(
      [&] {
        write_puzzle_folder(target, false, {}, [](const fs::path& inside) {
          write_folder(inside);
          throw InputError("stopped");
        });
      },
      "stopped");
  EXPECT_EQ(folder.entries(), 0u);
  write(false);
  EXPECT_EQ(base::read_json(target / "puzzles.json")["kind"], "none");
  expect_error<InputError>([&] { write(false); }, "--force");
  write(true);
  base::write_text_atomically(target / "train" / "mine.txt", "mine");
  expect_error<InputError>([&] { write(true); }, "mine.txt");
  EXPECT_TRUE(fs::exists(target / "train" / "mine.txt"));
  EXPECT_EQ(folder.entries(), 1u);
}

}  // namespace
}  // namespace edelta::data
