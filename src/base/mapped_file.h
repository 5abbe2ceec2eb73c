// Files that are looked into, not loaded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace edelta::base {

// A regular file in the address space; the system reads the parts that are looked at. InputError
// with the path and the reason where it cannot be mapped.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // From a page's beginning, so that numbers in it are aligned.
  std::string_view bytes() const { return {data_, size_}; }

  // InputError where the file was shortened: to look at what is gone would end the program. To be
  // asked before each look, while others may write to the file.
  void require_whole() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  const char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace edelta::base
