#include "base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "base/temporary.h"
#include "edelta/base/error.h"

namespace edelta::base {
namespace {

namespace fs = std::filesystem;

// A symbolic link keeps pointing where it points: its target is what gets replaced.
fs::path resolve(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return path;
  if (!fs::is_regular_file(status)) {
    throw Failure(fmt::format("cannot write {}: it is not a regular file", path.string()));
  }
  const fs::path resolved = fs::canonical(path, error);
  return error ? path : resolved;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(path), target_(resolve(path)) {
  remove_stale_temporaries(target_);
  do {  // EEXIST: left behind by a killed process that had the same id
    temporary_ = temporary_beside(target_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) {
    const int error = errno;
    temporary_.clear();
    fail(error);
  }
  ::flock(descriptor_, LOCK_EX | LOCK_NB);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::write(const void* data, std::size_t bytes) {
  auto* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(errno);
    }
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) fail(errno);
  // Network file systems report a full disk as late as here.
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
  if (const int error = sync_folder_of(target_)) fail(error);
}

void AtomicFile::fail(int error) {
  discard();
  throw Failure(fmt::format("cannot write {}: {}", path_.string(), std::strerror(error)));
}

void AtomicFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void write_text_atomically(const fs::path& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error == std::errc::not_a_directory || error == std::errc::file_exists) {
    throw InputError(fmt::format("{}: a file is in the way of that folder", folder.string()));
  }
  if (error) throw Failure(fmt::format("{}: {}", folder.string(), error.message()));
}

}  // namespace edelta::base
