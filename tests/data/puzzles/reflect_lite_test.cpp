#include "data/puzzles/reflect_lite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json.h"
#include "data/puzzles/arc_build.h"
#include "data/puzzles/reflect_lite_build.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "golden.h"

namespace edelta::data {
namespace {

using nlohmann::json;

// $EDELTA_ARC_DIR, or else ../shared/data/arc next to the source tree.
std::optional<std::filesystem::path> arc_folder() {
  namespace fs = std::filesystem;
  if (const char* folder = std::getenv("EDELTA_ARC_DIR")) return folder;
  fs::path tree = __FILE__;
  for (int i = 0; i < 4; ++i) tree = tree.parent_path();
  const fs::path folder = tree / ".." / "shared" / "data" / "arc";
  return fs::exists(folder) ? std::optional(folder) : std::nullopt;
}

std::vector<std::string> sorted(const json& list) {
  auto names = list.get<std::vector<std::string>>();
  std::sort(names.begin(), names.end());
  return names;
}

TEST(ReflectLiteGolden, EveryTaskAndBothSlices) {
  const auto path = test::golden_file("trm/reflect_lite.json");
  const auto folder = arc_folder();
  if (!path || !folder) GTEST_SKIP() << "no golden trm/reflect_lite.json, or no ARC files";
  const json golden = base::read_json(*path);
  const auto tasks = read_arc_tasks(
      *folder, {.subsets = {"training", "evaluation", "concept"}, .test_subsets = {"evaluation"}});
  const ReflectLite selected = select_reflect_lite(tasks, SliceSample::published, 0);
  std::map<std::string, json> records;
  for (const ReflectRecord& each : selected.records) {
    records[each.task] = {each.task,        each.reflect, each.rotation,         each.identity,
                          each.non_reflect, each.pairs,   slice_name(each.slice)};
  }
  ASSERT_EQ(golden["records"].size(), 960u);
  EXPECT_EQ(records.size(), 960u);
  for (const json& record : golden["records"]) {
    EXPECT_EQ(records[record[0].get<std::string>()], record);
  }
  EXPECT_EQ(selected.candidates(Slice::reflect), 20);
  EXPECT_EQ(selected.candidates(Slice::control), 34);
  EXPECT_EQ(sorted(selected.reflect), sorted(golden["reflect"]));
  EXPECT_EQ(sorted(selected.control), sorted(golden["control"]));
}

std::vector<ReflectRecord> made_up_records(int evaluation, int training) {
  std::vector<ReflectRecord> records;
  for (int i = 0; i < training; ++i) {
    records.push_back({.task = "training/" + std::to_string(i), .slice = Slice::control});
    records.push_back({.task = "training/other" + std::to_string(i), .slice = Slice::other});
  }
  for (int i = 0; i < evaluation; ++i) {
    records.push_back({.task = "evaluation/" + std::to_string(i), .slice = Slice::control});
  }
  return records;
}

TEST(ReflectLite, DrawsTwentyWithFiveOfEvaluation) {
  const auto records = made_up_records(6, 100);
  std::set<std::vector<std::string>> drawn;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const auto tasks = slice_tasks(records, Slice::control, SliceSample::drawn, seed);
    EXPECT_EQ(std::set(tasks.begin(), tasks.end()).size(), 20u);
    const auto of_evaluation = std::count_if(tasks.begin(), tasks.end(), [](const auto& task) {
      return task.starts_with("evaluation/");
    });
    EXPECT_GE(of_evaluation, 5);
    for (const std::string& task : tasks) EXPECT_EQ(task.find("other"), std::string::npos);
    EXPECT_EQ(tasks, slice_tasks(records, Slice::control, SliceSample::drawn, seed));
    drawn.insert(tasks);
  }
  EXPECT_GT(drawn.size(), 6u);
}

TEST(ReflectLite, TakesAllOfASmallPool) {
  EXPECT_EQ(slice_tasks(made_up_records(3, 17), Slice::control, SliceSample::drawn, 1).size(), 20u);
  EXPECT_EQ(slice_tasks(made_up_records(0, 2), Slice::control, SliceSample::drawn, 1),
            (std::vector<std::string>{"training/0", "training/1"}));
  EXPECT_TRUE(slice_tasks(made_up_records(0, 2), Slice::reflect, SliceSample::drawn, 1).empty());
}

TEST(ReflectLite, ThePublishedListNeedsItsTasks) {
  test::expect_error<InputError>(
      [] { slice_tasks(made_up_records(6, 40), Slice::control, SliceSample::published, 1); },
      "published control slice", "--sample drawn");
}

}  // namespace
}  // namespace edelta::data
