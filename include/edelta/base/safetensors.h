// The safetensors format: an 8-byte little-endian header length, a JSON header
// `name -> {dtype, shape, data_offsets}` with an optional `__metadata__` (string to string), and
// the raw little-endian data.
#pragma once

#include <torch/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace edelta::base {

using TensorMap = std::map<std::string, torch::Tensor>;
using Metadata = std::map<std::string, std::string>;

struct TensorFile {
  std::string source;  // named in messages
  Metadata metadata;   // without the checksum
  TensorMap tensors;
  bool checked = false;  // it had a checksum, which was right

  // InputError with the file's name where there is no such tensor or entry.
  const torch::Tensor& tensor(const std::string& name) const;
  const std::string& metadata_at(const std::string& key) const;
};

// The readers trust nothing: whatever violates the format, would not fit the memory that the file's
// own size justifies, or is no tensor that the writer could have written, is an InputError that
// names the file and the reason. So is a checksum in the metadata that differs; files of other
// programs have none.
TensorFile read_safetensors(const std::filesystem::path& path);
TensorFile parse_safetensors(std::string_view bytes, const std::string& source);
// Without the tensors, which are not read; the checksum is not looked at.
TensorFile read_safetensors_metadata(const std::filesystem::path& path);

// The metadata gets a checksum of names, types, shapes, values and other metadata, under
// "checksum". Atomic; F16, BF16, F32, F64, I8, U8, I16, I32, I64 and BOOL. As in the reference
// implementation the data starts on an 8-byte boundary, and tensors of wider elements come first,
// so every tensor is aligned to its element.
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const Metadata& metadata = {});

}  // namespace edelta::base
