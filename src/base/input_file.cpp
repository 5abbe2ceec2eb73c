#include "base/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "edelta/base/error.h"

namespace edelta::base {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void reject(const fs::path& path, const char* reason) {
  throw InputError(fmt::format("cannot read {}: {}", path.string(), reason));
}

// What a shell hands over: standard input, or <(a command).
bool is_stream(const fs::path& path) {
  const std::string name = path.string();
  return name == "/dev/stdin" || name.rfind("/dev/fd/", 0) == 0 ||
         name.rfind("/proc/self/fd/", 0) == 0;
}

// O_NONBLOCK only matters for a named pipe, whose open would wait for a writer.
int open_to_read(const fs::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
  if (descriptor < 0) reject(path, std::strerror(errno));
  return descriptor;
}

// At most `bytes`; 0 at the end of the file.
std::size_t read_some(int descriptor, const fs::path& path, void* out, std::size_t bytes) {
  ssize_t count;
  do {
    count = ::read(descriptor, out, bytes);
  } while (count < 0 && errno == EINTR);
  if (count < 0) reject(path, std::strerror(errno));
  return static_cast<std::size_t>(count);
}

struct Closer {
  int descriptor;
  ~Closer() { ::close(descriptor); }
};

}  // namespace

OpenFile open_regular_file(const fs::path& path) {
  const int descriptor = open_to_read(path, O_NONBLOCK);
  struct stat status;
  const bool known = ::fstat(descriptor, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    ::close(descriptor);
    reject(path, known ? "it is not a regular file" : "its size is unknown");
  }
  return {descriptor, static_cast<std::uint64_t>(status.st_size)};
}

InputFile::InputFile(const fs::path& path) : path_(path) {
  const OpenFile file = open_regular_file(path);
  descriptor_ = file.descriptor;
  remaining_ = file.bytes;
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(void* out, std::size_t bytes) {
  auto* next = static_cast<char*>(out);
  while (bytes > 0) {
    const std::size_t count = read_some(descriptor_, path_, next, bytes);
    if (count == 0) reject(path_, "the file ends early");
    next += count;
    bytes -= count;
    remaining_ -= std::min<std::uint64_t>(count, remaining_);
  }
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

std::string read_text(const fs::path& path, std::size_t limit) {
  const Closer file{open_to_read(path, is_stream(path) ? 0 : O_NONBLOCK)};
  struct stat status;
  if (::fstat(file.descriptor, &status) != 0) reject(path, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) reject(path, std::strerror(EISDIR));
  if (!S_ISREG(status.st_mode) && !is_stream(path)) reject(path, "it is not a regular file");
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (const std::size_t count = read_some(file.descriptor, path, buffer.data(), buffer.size())) {
    if (count > limit - text.size()) {
      reject(path, fmt::format("it is longer than {} bytes", limit).c_str());
    }
    text.append(buffer.data(), count);
  }
  return text;
}

}  // namespace edelta::base
