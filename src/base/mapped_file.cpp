#include "base/mapped_file.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/input_file.h"
#include "edelta/base/error.h"

namespace edelta::base {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const OpenFile file = open_regular_file(path);
  size_ = static_cast<std::size_t>(file.bytes);
  // An empty file cannot be mapped, and need not be.
  void* data = nullptr;
  if (size_ > 0) data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.descriptor, 0);
  const int error = errno;
  ::close(file.descriptor);  // the mapping stays
  if (data == MAP_FAILED) {
    throw InputError(fmt::format("cannot map {}: {}", path.string(), std::strerror(error)));
  }
  data_ = static_cast<const char*>(data);
}

MappedFile::~MappedFile() {
  if (size_ > 0) ::munmap(const_cast<char*>(data_), size_);
}

}  // namespace edelta::base
