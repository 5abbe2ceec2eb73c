#include "train/run_state.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "fake_run.h"
#include "temporary_folder.h"

namespace edelta::train {
namespace {

TEST(RunState, IsThatOfTheLockUntilThereIsAResult) {
  const test::TemporaryFolder folder;
  const RunFolder run(folder.path());
  run.create(train_config_from_json({{"preset", "smoke"}, {"task", "stability"}}, "test"));
  EXPECT_EQ(run_state(run).phase, RunPhase::stopped);

  base::write_text_atomically(folder / "lock", "process 1234 on somewhere\n");
  EXPECT_EQ(run_state(run).phase, RunPhase::stopped) << "nobody holds it";

  const int holder = open((folder / "lock").c_str(), O_RDWR);
  ASSERT_EQ(flock(holder, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(run_state(run).phase, RunPhase::running);
  EXPECT_EQ(run_state(run).holder, "process 1234 on somewhere");

  test::fake_result(run, {}, "");
  EXPECT_EQ(run_state(run).phase, RunPhase::finished);
  std::filesystem::remove(run.result_file());
  close(holder);
  EXPECT_EQ(run_state(run).phase, RunPhase::stopped);
}

TEST(RunState, DoesNotKeepTheLock) {
  const test::TemporaryFolder folder;
  base::write_text_atomically(folder / "lock", "");
  run_state(RunFolder(folder.path()));
  const int holder = open((folder / "lock").c_str(), O_RDWR);
  EXPECT_EQ(flock(holder, LOCK_EX | LOCK_NB), 0);
  close(holder);
}

}  // namespace
}  // namespace edelta::train
