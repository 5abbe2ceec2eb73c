// NumPy's .npy format: arrays of float32 or float64.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace edelta::base {

// Versions 1 to 3, either byte order, C or Fortran order; the tensor is float32 or float64 as in
// the file, contiguous. Whatever is malformed, or larger or smaller than its shape says, is an
// InputError that names the file and the reason. Values are not looked at.
torch::Tensor read_npy(const std::filesystem::path& path);
torch::Tensor parse_npy(std::string_view bytes, const std::string& source);

// The bytes of such a file; float32 or float64.
std::string format_npy(const torch::Tensor& tensor);
// Atomic.
void write_npy(const std::filesystem::path& path, const torch::Tensor& tensor);

}  // namespace edelta::base
