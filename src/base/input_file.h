// Files that come from a user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

namespace edelta::base {

struct OpenFile {
  int descriptor = -1;
  std::uint64_t bytes = 0;
};

// A regular file, open to read; the caller closes it. InputError with the path and the reason.
OpenFile open_regular_file(const std::filesystem::path& path);

// A regular file read from front to back. Every error, a file that ends early included, throws
// InputError with the path and the reason.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  std::uint64_t remaining() const { return remaining_; }
  void read(void* out, std::size_t bytes);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::uint64_t remaining_ = 0;
};

// Whether anything has this name, also a link that leads nowhere: what is there and cannot be read
// is then an error, not absent.
bool is_there(const std::filesystem::path& path);

// All of a regular file, or of what the shell gives as /dev/stdin or /dev/fd/N; more than `limit`
// bytes are an InputError.
std::string read_text(const std::filesystem::path& path, std::size_t limit);

}  // namespace edelta::base
