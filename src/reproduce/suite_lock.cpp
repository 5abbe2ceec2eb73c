#include "reproduce/suite_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/atomic_file.h"
#include "edelta/base/error.h"

namespace edelta::reproduce {
namespace {

constexpr auto kPause = std::chrono::milliseconds(20);

}  // namespace

SuiteLock::SuiteLock(const SuiteFolder& folder) {
  base::make_folder(folder.path());
  const std::filesystem::path file = folder.path() / ".lock";
  // Not closed in children: a lock of this kind lasts until its last holder ends.
  descriptor_ = open(file.c_str(), O_RDWR | O_CREAT, 0666);
  if (descriptor_ < 0) throw Failure(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    char text[32] = {};
    const ssize_t size = pread(descriptor_, text, sizeof text - 1, 0);
    const pid_t holder = size > 0 ? std::atoi(text) : 0;
    if (holder > 0 && (kill(holder, 0) == 0 || errno == EPERM)) {
      close(descriptor_);
      throw InputError(fmt::format("{}: another edelta reproduce is at work there (process {})",
                                   folder.path().string(), holder));
    }
    std::this_thread::sleep_for(kPause);  // children of one that was killed are saving
  }
  const std::string holder = std::to_string(getpid()) + "\n";
  if (ftruncate(descriptor_, 0) != 0 ||
      pwrite(descriptor_, holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size())) {
    const int error = errno;
    close(descriptor_);
    throw Failure(fmt::format("{}: {}", file.string(), std::strerror(error)));
  }
}

SuiteLock::~SuiteLock() { close(descriptor_); }

}  // namespace edelta::reproduce
