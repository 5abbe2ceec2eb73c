// Checksums of contents: they find damage and mix-ups, not malice.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace edelta::base {

// XXH3 with 128 bits, which takes in data as fast as memory gives it.
class Checksum {
 public:
  Checksum();
  ~Checksum();
  Checksum(const Checksum&) = delete;
  Checksum& operator=(const Checksum&) = delete;

  void add(const void* data, std::size_t bytes);
  // With its length, so that "ab", "c" and "a", "bc" differ.
  void add_text(std::string_view text);
  std::string text() const;  // 32 hexadecimal digits

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string checksum_of(std::string_view text);
// Of a regular file, read as a stream; InputError where it cannot be read.
std::string checksum_of_file(const std::filesystem::path& path);

}  // namespace edelta::base
