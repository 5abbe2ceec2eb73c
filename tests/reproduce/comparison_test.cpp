#include "reproduce/compare/comparison.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "fake_run.h"
#include "reproduce/compare/comparison_page.h"
#include "temporary_folder.h"

namespace edelta::reproduce {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// A run without its models: what the overview and the comparison read.
fs::path make_run(const fs::path& folder, const json& given,
                  const std::vector<nlohmann::ordered_json>& metrics, const json& result = {}) {
  json config{{"preset", "smoke"}, {"task", "stability"}};
  if (!given.is_null()) config.merge_patch(given);  // {} is null
  const train::RunFolder run(folder);
  run.create(train::train_config_from_json(config, "test"));
  const std::string sum = test::fake_metrics(run, metrics);
  if (!result.is_null()) test::fake_result(run, result, sum);
  return folder;
}

const std::vector<nlohmann::ordered_json> kMetrics{
    {{"iteration", 0}, {"val_loss", 0.5}},
    {{"iteration", 10},
     {"lr", 0.001},
     {"train_loss", 0.4},
     {"gradient_norm", 1.5},
     {"gamma", {0.5, 0.6}}},
    {{"iteration", 50}, {"val_loss", 0.25}},
    {{"iteration", 60}, {"train_loss", 0.3}, {"gradient_norm", 1.25}, {"gamma", {0.4, 0.7}}},
    {{"iteration", 100}, {"val_loss", 0.375}}};

TEST(RunOverview, IsOfTheResultOrOfWhatIsLogged) {
  const test::TemporaryFolder folder;
  const RunOverview stopped = read_overview(make_run(folder / "stopped", {}, kMetrics));
  EXPECT_EQ(stopped.state_text(), "stopped");
  EXPECT_EQ(stopped.iterations_text(), "100/800");
  EXPECT_EQ(stopped.best_loss, 0.25);
  EXPECT_EQ(stopped.final_loss, std::nullopt);
  EXPECT_EQ(stopped.data(), "stability");

  const json result{{"best_val_loss", 0.2}, {"final_val_loss", 0.3}, {"seconds", 12.0}};
  const RunOverview finished = read_overview(make_run(folder / "finished", {}, kMetrics, result));
  EXPECT_EQ(finished.state_text(), "finished");
  EXPECT_EQ(finished.iterations_text(), "800");
  EXPECT_EQ(finished.best_loss, 0.2);
  EXPECT_EQ(finished.final_loss, 0.3);
  EXPECT_EQ(finished.seconds, 12.0);

  const RunOverview begun = read_overview(make_run(folder / "begun", {}, {}));
  EXPECT_EQ(begun.iterations_text(), "0/800");
  EXPECT_EQ(begun.best_loss, std::nullopt);
}

TEST(RunOverview, TellsTheShareOfPuzzlesSolved) {
  const test::TemporaryFolder folder;
  std::vector<nlohmann::ordered_json> metrics = kMetrics;
  metrics[2]["exact_accuracy"] = 0.5;
  metrics[4]["exact_accuracy"] = 0.75;
  const fs::path stopped = make_run(folder / "stopped", {}, metrics);
  EXPECT_EQ(read_overview(stopped).solved, 0.75);
  const json result{{"best_val_loss", 0.2},
                    {"final_val_loss", 0.3},
                    {"seconds", 12.0},
                    {"measures", {{"exact_accuracy", 0.875}}}};
  const fs::path finished = make_run(folder / "finished", {}, metrics, result);
  EXPECT_EQ(read_overview(finished).solved, 0.875);
  const fs::path vectors = make_run(folder / "vectors", {}, kMetrics);
  EXPECT_EQ(read_overview(vectors).solved, std::nullopt);

  const Comparison comparison = compare_runs({stopped, finished, vectors});
  EXPECT_EQ(figures_of(comparison)[1].id, "solved");
  const std::string page = to_html(comparison, {.title = "t"});
  EXPECT_NE(page.find("87.5 %"), std::string::npos);
  EXPECT_EQ(to_html(compare_runs({vectors}), {.title = "t"}).find("solved"), std::string::npos);
}

TEST(RunOverview, NamesAreFitToBePrinted) {
  EXPECT_EQ(display_name("runs/größe"), "runs/größe");
  EXPECT_EQ(display_name("a\nb\033[31m"), "a?b?[31m");
  EXPECT_EQ(display_name("a\xFFz"), "a\xEF\xBF\xBDz");
}

TEST(Comparison, FindsWhatDiffers) {
  const test::TemporaryFolder folder;
  const fs::path one = make_run(folder / "one", {}, kMetrics);
  const fs::path two = make_run(folder / "two", {{"train", {{"seed", 7}}}}, kMetrics);
  const Comparison same_data = compare_runs({one, two});
  ASSERT_EQ(same_data.settings.size(), 1u);
  EXPECT_EQ(same_data.settings[0].key, "train.seed");
  EXPECT_EQ(same_data.settings[0].values, (std::vector<std::string>{"42", "7"}));
  EXPECT_TRUE(same_data.notes.empty());
  EXPECT_EQ(same_data.runs[1].name, "two");

  const fs::path other = make_run(folder / "sub" / "one", {{"task", "gyroscope"}}, {});
  const Comparison different = compare_runs({one, other});
  EXPECT_EQ(different.notes.size(), 1u);
  EXPECT_NE(different.runs[0].name, different.runs[1].name) << "both folders are called one";

  EXPECT_THROW(compare_runs({one, folder / "." / "one"}), InputError);
  EXPECT_THROW(compare_runs({one, folder / "nowhere"}), InputError);
}

TEST(Comparison, DrawsOnlyWhatIsThere) {
  const test::TemporaryFolder folder;
  const fs::path gates = make_run(folder / "gates", {}, kMetrics);
  const fs::path begun = make_run(folder / "begun", {{"model", "gpt"}}, {});
  const auto all = figures_of(compare_runs({gates, begun}));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].panels.size(), 2u);
  EXPECT_EQ(all[2].panels.size(), 1u) << "one run has gates";
  EXPECT_EQ(all[2].panels[0].series.size(), 2u);
  EXPECT_TRUE(figures_of(compare_runs({begun})).empty());
}

TEST(Comparison, PageEscapesNames) {
  const test::TemporaryFolder folder;
  const std::string name = "<script>alert(1)<&\"'`{x}_@^%";
  const fs::path run = make_run(folder / name, {}, kMetrics);
  const std::string page = to_html(compare_runs({run}), {.title = name});
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(1)&lt;&amp;&quot;&#39;`{x}_@^%</h1>"),
            std::string::npos);
  const std::string live = to_html(compare_runs({run}), {.title = name, .refresh_seconds = 2});
  EXPECT_NE(live.find("const every = 2000;"), std::string::npos);
}

}  // namespace
}  // namespace edelta::reproduce
