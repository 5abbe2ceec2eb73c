// Files as one text, read from front to back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/input_file.h"

namespace edelta::data {

class TextSource {
 public:
  // InputError for a file that cannot be read, and for a text without a byte.
  explicit TextSource(const std::vector<std::filesystem::path>& files);

  struct File {
    std::filesystem::path path;
    std::uint64_t begin = 0, bytes = 0;  // in the text
  };
  const std::vector<File>& files() const { return files_; }
  std::uint64_t bytes() const { return bytes_; }
  // The file that a byte of the text is in.
  const File& file_at(std::uint64_t offset) const;

 private:
  std::vector<File> files_;
  std::uint64_t bytes_ = 0;
};

class TextReader {
 public:
  explicit TextReader(const TextSource& source) : source_(source) {}

  // The next `bytes`, in pieces that `complete` allows: of what was read it says how much can be
  // used before more is known. The last piece is whatever is left.
  void read(std::uint64_t bytes, const std::function<std::size_t(std::string_view)>& complete,
            const std::function<void(std::string_view)>& use);

 private:
  void append(std::string& buffer, std::size_t bytes);

  const TextSource& source_;
  std::size_t file_ = 0;
  std::optional<base::InputFile> open_;
};

}  // namespace edelta::data
