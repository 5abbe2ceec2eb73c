#include "train/metrics.h"

#include <gtest/gtest.h>

#include <fstream>

#include "edelta/base/error.h"
#include "temporary_folder.h"

namespace edelta::train {
namespace {

using nlohmann::ordered_json;

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class MetricsFile : public testing::Test {
 protected:
  MetricsFile() : file_(folder_ / "metrics.jsonl") {
    MetricsLog log(file_, "");
    for (const int iteration : {10, 20, 30}) {
      log.add({{"iteration", iteration}, {"loss", 1.0 / iteration}});
      if (iteration == 20) kept_ = content(file_);
    }
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_;
  std::string kept_;  // up to 20
};

TEST_F(MetricsFile, IsCutAtTheCheckpointAndAtALineThatACrashLeft) {
  std::ofstream(file_, std::ios::app) << "{\"iteration\":4";
  EXPECT_EQ(read_metrics_file(file_).entries.size(), 3u);
  const std::string sum = truncate_metrics_file(file_, 20);
  EXPECT_EQ(content(file_), kept_);
  EXPECT_EQ(truncate_metrics_file(file_, 20), sum);
  EXPECT_EQ(content(file_), kept_) << "cutting again changes nothing";
  MetricsLog(file_, sum).add({{"iteration", 30}, {"loss", 1.0 / 30}});
  EXPECT_EQ(read_metrics_file(file_).entries.size(), 3u) << "it goes on where it was cut";
  EXPECT_EQ(truncate_metrics_file(file_, -1), "");
  EXPECT_EQ(content(file_), "");
}

TEST_F(MetricsFile, NoticesLinesThatAreChangedMissingOrNone) {
  const std::string whole = content(file_);
  const auto refused = [&](const std::string& text, const char* line) {
    std::ofstream(file_) << text;
    try {
      read_metrics_file(file_);
      FAIL() << text;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(line), std::string::npos) << error.what();
    }
  };
  std::string changed = whole;
  changed[changed.find("0.05")] = '1';
  refused(changed, "line 2");
  refused(whole.substr(whole.find('\n') + 1), "line 1");
  refused(kept_ + "{}\n", "line 3");
  refused(kept_ + "no json\n", "line 3");
}

TEST_F(MetricsFile, OfARunThatHasNotBegunIsEmpty) {
  EXPECT_TRUE(read_metrics_file(folder_ / "none").entries.empty());
}

}  // namespace
}  // namespace edelta::train
