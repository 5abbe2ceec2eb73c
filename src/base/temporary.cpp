#include "base/temporary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <vector>

namespace edelta::base {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// The process that made "NAME.PID.N.tmp", or 0 where the name is no such one.
pid_t maker(const std::string& name, const std::string& target) {
  const std::string prefix = target + ".", suffix = ".tmp";
  if (name.size() < prefix.size() + suffix.size() || name.rfind(prefix, 0) != 0 ||
      name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0) {
    return 0;
  }
  pid_t process = 0;
  const char* end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, process);
  return error == std::errc() && rest != end && *rest == '.' && process > 0 ? process : 0;
}

bool is_held(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return true;
  const bool held = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0;
  ::close(descriptor);
  return held;
}

}  // namespace

fs::path temporary_beside(const fs::path& target) {
  static std::atomic<unsigned> counter{0};
  return target.string() + fmt::format(".{}.{}.tmp", ::getpid(), counter++);
}

void remove_stale_temporaries(const fs::path& target) noexcept {
  try {
    std::vector<fs::path> stale;
    for (const auto& entry : fs::directory_iterator(folder_of(target))) {
      const pid_t process = maker(entry.path().filename(), target.filename());
      const bool ended = process > 0 && ::kill(process, 0) != 0 && errno == ESRCH;
      if (ended && !is_held(entry.path())) stale.push_back(entry.path());
    }
    std::error_code ignored;
    for (const fs::path& path : stale) fs::remove_all(path, ignored);
  } catch (const std::exception&) {
    // A folder that cannot be listed keeps what it has.
  }
}

int sync_folder_of(const fs::path& path) {
  const int descriptor = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  // EINVAL: a file system that knows no sync of folders.
  const int error = ::fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno;
  ::close(descriptor);
  return error;
}

}  // namespace edelta::base
