#include "base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "edelta/base/error.h"

namespace edelta::base {
namespace {

constexpr auto kPause = std::chrono::milliseconds(20);

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

// What the file says of its holder; empty while the holder has not written it yet.
std::string holder_of(int descriptor) {
  std::array<char, 300> text{};
  const ssize_t size = ::pread(descriptor, text.data(), text.size() - 1, 0);
  const std::string line(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  return line.substr(0, line.find('\n'));
}

// Of a process on another machine nothing can be said but that it holds the lock.
bool has_ended(const std::string& holder) {
  int process = 0;
  std::array<char, 257> host{};
  if (std::sscanf(holder.c_str(), "process %d on %256s", &process, host.data()) != 2) return true;
  return host.data() == host_name() && ::kill(process, 0) != 0 && errno == ESRCH;
}

// Whether the file has been taken away since it was opened: a lock on it keeps nobody out.
bool has_no_name(int descriptor) {
  struct stat state{};
  return ::fstat(descriptor, &state) == 0 && state.st_nlink == 0;
}

}  // namespace

FileLock::FileLock(const std::filesystem::path& file, const std::string& work, Children children) {
  const auto fail = [&] {
    const int error = errno;
    if (descriptor_ >= 0) ::close(descriptor_);
    throw Failure(fmt::format("{}: {}", file.string(), std::strerror(error)));
  };
  const auto open = [&] {
    const int flags = O_RDWR | O_CREAT | O_NONBLOCK | (children == Children::leave ? O_CLOEXEC : 0);
    descriptor_ = ::open(file.c_str(), flags, 0666);
    if (descriptor_ < 0) fail();
  };
  open();
  while (true) {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) {
      if (!has_no_name(descriptor_)) break;
      ::close(descriptor_);
      open();
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) fail();
    const std::string holder = holder_of(descriptor_);
    if (!has_ended(holder)) {
      ::close(descriptor_);
      throw InputError(fmt::format("{} ({})", work, holder));
    }
    std::this_thread::sleep_for(kPause);
  }
  const std::string holder = fmt::format("process {} on {}\n", ::getpid(), host_name());
  if (::ftruncate(descriptor_, 0) != 0 || ::pwrite(descriptor_, holder.data(), holder.size(), 0) !=
                                              static_cast<ssize_t>(holder.size())) {
    fail();
  }
}

std::optional<std::string> FileLock::holder(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return std::nullopt;
  std::optional<std::string> found;
  if (::flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    found = holder_of(descriptor);
  }
  ::close(descriptor);
  return found;
}

FileLock::~FileLock() { ::close(descriptor_); }

}  // namespace edelta::base
