#include "base/atomic_folder.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/file_lock.h"
#include "base/temporary.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::base {
namespace {

namespace fs = std::filesystem;
using test::expect_error;

const std::set<std::string> kNames{"x", "y"};

void write_folder(const fs::path& target, const std::string& text, bool replace) {
  AtomicFolder folder(target);
  for (const std::string& name : kNames) std::ofstream(folder.path() / name) << text;
  folder.commit(replace, kNames);
}

std::string content(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(AtomicFolder, AppearsWholeAndIsReplacedWhole) {
  const test::TemporaryFolder folder;
  const fs::path target = folder / "new/data";
  write_folder(target.string() + "/", "1", false);
  expect_error<InputError>([&] { write_folder(target, "2", false); }, "--force");
  EXPECT_EQ(content(target / "x"), "1");
  write_folder(target, "2", true);
  EXPECT_EQ(content(target / "x") + content(target / "y"), "22");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "new"), {}), 1) << "nothing is left";
}

TEST(AtomicFolder, NeverTakesAwayWhatIsNotItsOwn) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "thesis") << "years of work";
  expect_error<InputError>([&] { write_folder(folder.path(), "1", true); }, "thesis");
  expect_error<InputError>([&] { write_folder(folder / "thesis", "1", true); }, "no folder");
  EXPECT_EQ(content(folder / "thesis"), "years of work");
}

TEST(AtomicFolder, RemovesWhatAKilledProcessLeft) {
  const test::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    AtomicFolder left(folder / "data");
    std::ofstream(left.path() / "x") << "half";
    _exit(0);  // no destructor
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(folder.entries(), 1u);
  AtomicFolder living(folder / "data");
  EXPECT_EQ(folder.entries(), 1u) << "the dead one is gone";
  remove_stale_temporaries(folder / "data");
  EXPECT_EQ(folder.entries(), 1u) << "that of a living process is not";
}

TEST(FileLock, NamesItsHolder) {
  const test::TemporaryFolder folder;
  {
    const FileLock held(folder / "lock", "busy");
    expect_error<InputError>([&] { FileLock(folder / "lock", "busy"); },
                             "busy (process " + std::to_string(getpid()) + " on ");
  }
  FileLock again(folder / "lock", "busy");
}

// One that waits for a file that is taken away has nobody kept out by that.
TEST(FileLock, IsOnTheFileThatIsThere) {
  const test::TemporaryFolder folder;
  const int held = open((folder / "lock").c_str(), O_RDWR | O_CREAT, 0666);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  std::thread waits([&] {
    const FileLock lock(folder / "lock", "busy");
    EXPECT_TRUE(fs::exists(folder / "lock"));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  fs::remove(folder / "lock");
  close(held);
  waits.join();
}

}  // namespace
}  // namespace edelta::base
