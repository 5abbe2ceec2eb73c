#include "base/atomic_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <string>

#include "base/input_file.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "temporary_folder.h"

namespace edelta::base {
namespace {

using test::expect_error;
using test::TemporaryFolder;

// Stands in for a full disk: writing past the limit fails with EFBIG.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    handler_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit old_;
  sighandler_t handler_;
};

TEST(AtomicFile, ReplacesTheContentAndLeavesNoTemporary) {
  const TemporaryFolder folder;
  write_text_atomically(folder / "file", "old");
  write_text_atomically(folder / "file", "new");
  EXPECT_EQ(read_text(folder / "file", 100), "new");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, ShowsNothingBeforeCommit) {
  const TemporaryFolder folder;
  write_text_atomically(folder / "file", "old");
  {
    AtomicFile file(folder / "file");
    file.write("new", 3);
    EXPECT_EQ(read_text(folder / "file", 100), "old");
  }
  EXPECT_EQ(read_text(folder / "file", 100), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, FailedWriteKeepsTheOldFile) {
  const TemporaryFolder folder;
  write_text_atomically(folder / "file", "old");
  {
    const FileSizeLimit limit(1000);
    expect_error<Failure>([&] { write_text_atomically(folder / "file", std::string(5000, 'x')); },
                          (folder / "file").string(), "File too large");
  }
  EXPECT_EQ(read_text(folder / "file", 100), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, NamesThePathThatCannotBeWritten) {
  const TemporaryFolder folder;
  expect_error<Failure>([&] { write_text_atomically(folder / "no/file", "x"); },
                        (folder / "no/file").string(), "No such file or directory");
  write_text_atomically(folder / "plain", "x");
  expect_error<Failure>([&] { write_text_atomically(folder / "plain/file", "x"); },
                        "Not a directory");
  expect_error<Failure>([&] { write_text_atomically(folder.path(), "x"); }, "not a regular file");
  expect_error<Failure>([&] { write_text_atomically("/dev/null", "x"); }, "not a regular file");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, FollowsASymbolicLink) {
  const TemporaryFolder folder;
  write_text_atomically(folder / "target", "old");
  std::filesystem::create_symlink("target", folder / "link");
  write_text_atomically(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_text(folder / "target", 100), "new");
}

TEST(AtomicFile, HonoursTheUmask) {
  const TemporaryFolder folder;
  const mode_t old = ::umask(027);
  write_text_atomically(folder / "file", "x");
  ::umask(old);
  struct stat status;
  ASSERT_EQ(::stat((folder / "file").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
}

TEST(ReadText, RefusesWhatIsMissingTooLongOrAFolder) {
  const TemporaryFolder folder;
  write_text_atomically(folder / "file", "12345");
  EXPECT_EQ(read_text(folder / "file", 5), "12345");
  expect_error<InputError>([&] { read_text(folder / "file", 4); }, (folder / "file").string(),
                           "longer than 4 bytes");
  expect_error<InputError>([&] { read_text(folder / "none", 4); }, "No such file");
  expect_error<InputError>([&] { read_text(folder.path(), 4); }, "Is a directory");
}

TEST(InputFile, RefusesToReadPastTheEnd) {
  const TemporaryFolder folder;
  write_text_atomically(folder / "file", "12345");
  InputFile file(folder / "file");
  EXPECT_EQ(file.remaining(), 5u);
  char buffer[8];
  file.read(buffer, 4);
  EXPECT_EQ(file.remaining(), 1u);
  expect_error<InputError>([&] { file.read(buffer, 2); }, "ends early");
  expect_error<InputError>([&] { InputFile other(folder.path()); }, "not a regular file");
}

}  // namespace
}  // namespace edelta::base
