// The header of a .npy file: a Python dictionary literal.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edelta::base {

struct NpyHeader {
  torch::ScalarType dtype{};
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

NpyHeader parse_npy_header(std::string_view text, const std::string& source);
std::string format_npy_header(const NpyHeader& header);

[[noreturn]] void reject_npy(const std::string& source, const std::string& reason);

}  // namespace edelta::base
