#include "base/integer_npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "base/input_bytes.h"
#include "base/npy_prelude.h"
#include "base/tensor_size.h"

namespace edelta::base {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "'<i4' and '=i4' are the same here");

template <class T>
std::int64_t number_at(const char* data, bool big_endian) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, data, sizeof bytes);
  if (big_endian) std::reverse(bytes, bytes + sizeof bytes);
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<std::int64_t>(value);
}

template <class T>
void read_numbers(const char* data, bool big_endian, std::span<std::int64_t> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = number_at<T>(data + i * sizeof(T), big_endian);
  }
}

}  // namespace

IntegerNpyView::IntegerNpyView(std::string_view bytes, const std::string& source) {
  InputBytes input(bytes);
  header_ = load_npy_header(input, source, NpyElements::whole);
  const auto needed = tensor_bytes(header_.shape, header_.type.bytes);
  if (!needed) reject_npy(source, "its shape overflows");
  if (*needed != input.remaining()) {
    reject_npy(source, fmt::format("its shape needs {} bytes of data, there are {}", *needed,
                                   input.remaining()));
  }
  if (header_.fortran_order && header_.shape.size() > 1) {
    reject_npy(source, "it is in Fortran order; rows must come one after another");
  }
  data_ = bytes.substr(bytes.size() - *needed);
}

void IntegerNpyView::read(std::int64_t first, std::span<std::int64_t> out) const {
  const char* data = data_.data() + first * header_.type.bytes;
  const bool is_signed = header_.type.letter == 'i', big = header_.big_endian;
  switch (header_.type.bytes) {
    case 1:
      return is_signed ? read_numbers<std::int8_t>(data, big, out)
                       : read_numbers<std::uint8_t>(data, big, out);
    case 2:
      return is_signed ? read_numbers<std::int16_t>(data, big, out)
                       : read_numbers<std::uint16_t>(data, big, out);
    case 4:
      return is_signed ? read_numbers<std::int32_t>(data, big, out)
                       : read_numbers<std::uint32_t>(data, big, out);
    default:
      return read_numbers<std::int64_t>(data, big, out);
  }
}

IntegerNpy::IntegerNpy(const std::filesystem::path& path)
    : path_(path), file_(path), view_(file_.bytes(), path.string()) {}

void IntegerNpy::read(std::int64_t first, std::span<std::int64_t> out) const {
  file_.require_whole();
  view_.read(first, out);
}

ByteRowsWriter::ByteRowsWriter(const std::filesystem::path& path, std::int64_t rows,
                               std::int64_t row_bytes)
    : file_(path), row_bytes_(row_bytes), left_(rows) {
  const std::string prelude = format_npy_prelude({{'u', 1}, false, false, {rows, row_bytes}});
  file_.write(prelude.data(), prelude.size());
}

void ByteRowsWriter::add(std::span<const std::uint8_t> row) {
  if (left_ == 0 || static_cast<std::int64_t>(row.size()) != row_bytes_) {
    throw std::logic_error("a row that was not announced");
  }
  --left_;
  buffer_.insert(buffer_.end(), row.begin(), row.end());
  constexpr std::size_t kBufferBytes = 1 << 20;
  if (buffer_.size() >= kBufferBytes) flush();
}

void ByteRowsWriter::flush() {
  file_.write(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void ByteRowsWriter::commit() {
  if (left_ != 0) throw std::logic_error("fewer rows than were announced");
  flush();
  file_.commit();
}

void write_int32_npy(const std::filesystem::path& path, const std::vector<std::int32_t>& values) {
  const std::string prelude =
      format_npy_prelude({{'i', 4}, false, false, {static_cast<std::int64_t>(values.size())}});
  AtomicFile file(path);
  file.write(prelude.data(), prelude.size());
  file.write(values.data(), values.size() * sizeof(std::int32_t));
  file.commit();
}

}  // namespace edelta::base
