#include "edelta/train/run_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "edelta/base/error.h"
#include "temporary_folder.h"

namespace edelta::train {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

TEST(Metrics, AreCutAtTheCheckpointAndAtALineThatACrashLeft) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder.path());
  const std::string kept = "{\"iteration\":10,\"a\":1}\n{\"iteration\":20,\"val_loss\":2}\n";
  write(run.metrics_file(), kept + "{\"iteration\":30}\n{\"iteration\":4");
  EXPECT_EQ(run.read_metrics().size(), 3);
  run.truncate_metrics(20);
  EXPECT_EQ(content(run.metrics_file()), kept);
  run.truncate_metrics(20);
  EXPECT_EQ(content(run.metrics_file()), kept) << "cutting again changes nothing";
  run.truncate_metrics(-1);
  EXPECT_EQ(content(run.metrics_file()), "");
}

TEST(Metrics, RefuseALineThatIsNone) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder.path());
  for (const char* line : {"[]\n", "{\"iteration\":\"1\"}\n", "{}\n", "no json\n"}) {
    write(run.metrics_file(), std::string("{\"iteration\":1}\n") + line);
    try {
      run.read_metrics();
      FAIL() << line;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
    }
  }
}

TEST(RunFolder, TakesOneRunOnly) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder.path() / "run");
  EXPECT_THROW(run.read_config(), InputError);
  const TrainConfig config = train_config_from_json(
      {{"preset", "smoke"}, {"task", "stability"}, {"train", {{"seed", 9}}}}, "test");
  run.create(config);
  EXPECT_EQ(to_json(run.read_config()), to_json(config));
  EXPECT_FALSE(run.finished());
  EXPECT_THROW(run.create(config), InputError);
}

}  // namespace
}  // namespace edelta::train
