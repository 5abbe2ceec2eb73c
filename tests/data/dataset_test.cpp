#include "edelta/data/dataset.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "edelta/base/error.h"
#include "edelta/base/npy.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::data {
namespace {

using test::expect_error;
using test::TemporaryFolder;

TaskOptions small_gyroscope() {
  TaskOptions options = default_task_options("gyroscope");
  options.train = 5;
  options.val = 40;
  options.steps = 3;
  return options;
}

// A user's folder, in which one file can then be spoiled.
class UserFolder : public testing::Test {
 protected:
  UserFolder() {
    for (const char* name : {"train_x.npy", "train_y.npy"}) put(name, torch::ones({4, 3, 2}));
    for (const char* name : {"val_x.npy", "val_y.npy"}) put(name, torch::ones({2, 3, 2}));
  }

  void put(const std::string& name, const torch::Tensor& tensor) {
    base::write_npy(folder_ / name, tensor);
  }
  void put_task(const std::string& text) {
    base::write_text_atomically(folder_ / "task.json", text);
  }
  void expect_rejected(const std::string& culprit, const std::string& reason) {
    expect_error<InputError>([&] { read_dataset(folder_.path()); }, culprit, reason);
  }

  TemporaryFolder folder_;
};

TEST(Dataset, RoundTrips) {
  const TemporaryFolder folder;
  const Dataset data = generate(small_gyroscope());
  write_dataset(folder / "new/deep", data, small_gyroscope());
  const Dataset read = read_dataset(folder / "new/deep");
  EXPECT_TRUE(read.train_x.equal(data.train_x));
  EXPECT_TRUE(read.train_y.equal(data.train_y));
  EXPECT_TRUE(read.val_x.equal(data.val_x));
  EXPECT_TRUE(read.val_y.equal(data.val_y));
  ASSERT_EQ(read.val_strata.size(), 2u);
  for (const Stratum& stratum : read.val_strata) {
    const Stratum& expected = data.val_strata[stratum.name == "slow" ? 0 : 1];
    EXPECT_EQ(stratum.name, expected.name);
    EXPECT_EQ(stratum.rows, expected.rows);
  }
  EXPECT_NE(base::read_text(folder / "new/deep/task.json", 100'000).find("\"gyroscope\""),
            std::string::npos);
}

TEST(Dataset, RoundTripsStrataOfPositions) {
  TaskOptions options = default_task_options("reversal");
  options.train = 2;
  options.val = 9;
  options.steps = 8;
  const TemporaryFolder folder;
  const Dataset data = generate(options);
  write_dataset(folder / "flips", data, options);
  const Dataset read = read_dataset(folder / "flips");
  ASSERT_EQ(read.val_strata.size(), data.val_strata.size());
  for (const Stratum& expected : data.val_strata) {
    const auto found =
        std::find_if(read.val_strata.begin(), read.val_strata.end(),
                     [&](const Stratum& stratum) { return stratum.name == expected.name; });
    ASSERT_NE(found, read.val_strata.end()) << expected.name;
    EXPECT_EQ(found->rows, expected.rows) << expected.name;
    EXPECT_EQ(found->positions, expected.positions) << expected.name;
  }
}

TEST(Dataset, NamesTheFolderThatCannotBeMade) {
  const TemporaryFolder folder;
  base::write_text_atomically(folder / "file", "x");
  const Dataset data = generate(small_gyroscope());
  expect_error<InputError>([&] { write_dataset(folder / "file/sub", data, small_gyroscope()); },
                           (folder / "file").string());
}

TEST_F(UserFolder, NeedsNoTaskFile) {
  const Dataset data = read_dataset(folder_.path());
  EXPECT_EQ(data.train_x.size(0), 4);
  EXPECT_TRUE(data.val_strata.empty());
}

TEST_F(UserFolder, MayHoldFloat64AndTwoDimensions) {
  for (const char* name : {"train_x.npy", "train_y.npy"}) {
    put(name, torch::full({4, 2}, 0.1, torch::kDouble));
  }
  for (const char* name : {"val_x.npy", "val_y.npy"}) put(name, torch::ones({2, 1, 2}));
  const Dataset data = read_dataset(folder_.path());
  EXPECT_EQ(data.train_x.sizes(), (std::vector<std::int64_t>{4, 1, 2}));
  EXPECT_TRUE(data.train_x.equal(torch::full({4, 1, 2}, 0.1f)));
}

TEST_F(UserFolder, RejectsAMissingFile) {
  std::filesystem::remove(folder_ / "val_y.npy");
  expect_rejected("val_y.npy", "No such file");
}

TEST_F(UserFolder, RejectsOtherRanksAndEmptyArrays) {
  put("train_x.npy", torch::ones({4}));
  expect_rejected("train_x.npy", "[N, T, dim] or [N, dim], none of them 0, not [4]");
  put("train_x.npy", torch::ones({0, 3, 2}));
  expect_rejected("train_x.npy", "not [0, 3, 2]");
}

TEST_F(UserFolder, RejectsShapesThatDisagree) {
  put("val_y.npy", torch::ones({2, 3, 1}));
  expect_rejected("val_y.npy", "[2, 3, 1]; they must be the same");
  put("val_x.npy", torch::ones({2, 3, 1}));
  expect_rejected("[2, 3, 1]", "T and dim must be the same");
}

TEST_F(UserFolder, RejectsNonFiniteValues) {
  torch::Tensor values = torch::ones({4, 3, 2});
  values[3][0][1] = std::numeric_limits<float>::quiet_NaN();
  put("train_y.npy", values);
  expect_rejected("train_y.npy", "the value at [3, 0, 1] is nan");
  values[3][0][1] = 1;
  values[0][2][0] = -std::numeric_limits<float>::infinity();
  put("train_y.npy", values);
  expect_rejected("train_y.npy", "the value at [0, 2, 0] is -inf");
  put("train_y.npy", torch::full({4, 3, 2}, 1e300, torch::kDouble));
  expect_rejected("train_y.npy", "the value at [0, 0, 0] is inf");
}

TEST_F(UserFolder, ReadsStrata) {
  put_task(R"({"strata": {"second": [1]}})");
  const Dataset data = read_dataset(folder_.path());
  ASSERT_EQ(data.val_strata.size(), 1u);
  EXPECT_EQ(data.val_strata[0].name, "second");
  EXPECT_EQ(data.val_strata[0].rows, std::vector<std::int64_t>{1});
}

TEST_F(UserFolder, RejectsBrokenStrata) {
  put_task("{");
  expect_rejected("task.json", "not valid JSON");
  put_task(R"({"strata": {"a": [0], "a": [1]}})");
  expect_rejected("task.json", "\"a\" occurs twice");
  put_task(R"({"strata": [1]})");
  expect_rejected("task.json", "an object of lists");
  for (const char* rows :
       {"[2]", "[-1]", "[0.5]", "[\"0\"]", "[]", "3", "{\"x\": 0}", "[18446744073709551615]",
        R"({"rows": [0]})", R"({"rows": [0], "positions": [[0, 4]]})",
        R"({"rows": [0], "positions": [[1, 1]]})", R"({"rows": [0, 1], "positions": [[0, 1]]})",
        R"({"rows": [0], "positions": [[0]]})", R"({"rows": [0], "positions": 1})",
        R"({"rows": [2], "positions": [[0, 1]]})"}) {
    put_task(R"({"strata": {"a": )" + std::string(rows) + "}}");
    expect_rejected("task.json", "\"a\" must be a list of rows from 0 to 1");
  }
}

}  // namespace
}  // namespace edelta::data
