#include "base/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/input_file.h"
#include "edelta/base/error.h"

namespace edelta::base {

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const OpenFile file = open_regular_file(path);
  descriptor_ = file.descriptor;
  size_ = static_cast<std::size_t>(file.bytes);
  // An empty file cannot be mapped, and need not be.
  void* data = nullptr;
  if (size_ > 0) data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
  if (data == MAP_FAILED) {
    const int error = errno;
    ::close(descriptor_);
    throw InputError(fmt::format("cannot map {}: {}", path.string(), std::strerror(error)));
  }
  data_ = static_cast<const char*>(data);
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(const_cast<char*>(data_), size_);
  ::close(descriptor_);
}

void MappedFile::require_whole() const {
  struct stat now;
  if (::fstat(descriptor_, &now) == 0 && static_cast<std::size_t>(now.st_size) >= size_) return;
  throw InputError(fmt::format("{}: it was shortened while it was in use", path_.string()));
}

}  // namespace edelta::base
