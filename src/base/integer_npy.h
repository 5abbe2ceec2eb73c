// Arrays of whole numbers in NumPy's .npy format, without libtorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.h"
#include "base/mapped_file.h"
#include "base/npy_header.h"

namespace edelta::base {

// The numbers of such a file whose bytes are there already.
class IntegerNpyView {
 public:
  // uint8 to int64 in C order and either byte order. Whatever is malformed, or larger or smaller
  // than its shape says, is an InputError that names the source and the reason.
  IntegerNpyView(std::string_view bytes, const std::string& source);

  const std::vector<std::int64_t>& shape() const { return header_.shape; }
  // Numbers first … first + out.size() − 1, which the caller knows to be there.
  void read(std::int64_t first, std::span<std::int64_t> out) const;

 private:
  NpyHeader header_;
  std::string_view data_;
};

// A file that is looked into, not loaded: that of a large data set exceeds the memory.
class IntegerNpy {
 public:
  explicit IntegerNpy(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const std::vector<std::int64_t>& shape() const { return view_.shape(); }
  // InputError where the file was shortened meanwhile.
  void read(std::int64_t first, std::span<std::int64_t> out) const;

 private:
  std::filesystem::path path_;
  MappedFile file_;
  IntegerNpyView view_;
};

// A file of uint8 rows that appears whole or not at all.
class ByteRowsWriter {
 public:
  ByteRowsWriter(const std::filesystem::path& path, std::int64_t rows, std::int64_t row_bytes);
  void add(std::span<const std::uint8_t> row);
  // After as many rows as were announced.
  void commit();

 private:
  void flush();

  AtomicFile file_;
  std::int64_t row_bytes_, left_;
  std::vector<std::uint8_t> buffer_;
};

// Atomic; of one dimension.
void write_int32_npy(const std::filesystem::path& path, const std::vector<std::int32_t>& values);

}  // namespace edelta::base
