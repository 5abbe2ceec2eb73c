// The header of a .npy file: a Python dictionary literal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edelta::base {

// NumPy's letter and size: f 4 is float32, u 1 uint8.
struct NpyType {
  char letter = 'f';
  int bytes = 4;
};

struct NpyHeader {
  NpyType type;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Which types a reader takes; others are refused.
enum class NpyElements { floating, whole };

NpyHeader parse_npy_header(std::string_view text, const std::string& source, NpyElements elements);
std::string format_npy_header(const NpyHeader& header);

// Everything before the data. Version 1.0; the data starts on a 64-byte boundary, as NumPy's does.
std::string format_npy_prelude(const NpyHeader& header);

[[noreturn]] void reject_npy(const std::string& source, const std::string& reason);

}  // namespace edelta::base
