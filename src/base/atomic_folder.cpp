#include "base/atomic_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "base/temporary.h"
#include "edelta/base/error.h"

namespace edelta::base {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Failure(fmt::format("cannot write {}: {}", path.string(), std::strerror(error)));
}

// "data/" and "data" are the same folder.
fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

}  // namespace

AtomicFolder::AtomicFolder(const fs::path& target) : target_(without_slash(target)) {
  if (target_.has_parent_path()) make_folder(target_.parent_path());
  remove_stale_temporaries(target_);
  temporary_ = temporary_beside(target_);
  std::error_code error;
  if (!fs::create_directory(temporary_, error)) fail(target_, error ? error.value() : EEXIST);
  descriptor_ = ::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor_ >= 0) ::flock(descriptor_, LOCK_EX | LOCK_NB);
}

AtomicFolder::~AtomicFolder() {
  if (descriptor_ >= 0) ::close(descriptor_);
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void AtomicFolder::check(const fs::path& target, bool replace,
                         const std::set<std::string>& replaceable) {
  const fs::path folder = without_slash(target);
  if (!is_there(folder)) return;
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw InputError(fmt::format("{}: it is there and is no folder", folder.string()));
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!replace) {
      throw InputError(
          fmt::format("{}: it is there and not empty; --force replaces it", folder.string()));
    }
    if (!replaceable.contains(name)) {
      throw InputError(
          fmt::format("{}: it also holds '{}', which --force would remove; choose "
                      "another folder",
                      folder.string(), name));
    }
  }
}

void AtomicFolder::commit(bool replace, const std::set<std::string>& replaceable) {
  check(target_, replace, replaceable);
  // Succeeds where nothing, or an empty folder, is there.
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) fail(target_, errno);
    // Another process was first, or it is what --force is for.
    check(target_, replace, replaceable);
    exchange();
  } else {
    temporary_.clear();
  }
  if (const int error = sync_folder_of(target_)) fail(target_, error);
}

// The old folder takes the temporary's place, from where the destructor removes it.
void AtomicFolder::exchange() {
  if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0) {
    return;
  }
  if (errno != EINVAL && errno != ENOSYS) fail(target_, errno);
  // A file system that cannot exchange.
  const fs::path old = temporary_beside(target_);
  if (::rename(target_.c_str(), old.c_str()) != 0) fail(target_, errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    ::rename(old.c_str(), target_.c_str());
    fail(target_, error);
  }
  fs::rename(old, temporary_);
}

}  // namespace edelta::base
