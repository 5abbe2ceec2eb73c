// The JSON header of a safetensors file.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "edelta/base/safetensors.h"

namespace edelta::base {

struct HeaderEntry {
  std::string name;
  torch::ScalarType dtype{};
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  Metadata metadata;
  std::vector<HeaderEntry> entries;  // in the order of their data, which they cover without a gap
};

// The reference implementation's limit.
inline constexpr std::uint64_t kMaximumHeaderBytes = 100'000'000;

SafetensorsHeader parse_header(std::string_view json, std::uint64_t data_bytes,
                               const std::string& source);

// Padded with spaces so that 8 + its length is a multiple of 8.
std::string format_header(const SafetensorsHeader& header);

[[noreturn]] void reject_safetensors(const std::string& source, const std::string& reason);

bool has_safetensors_dtype(torch::ScalarType type);

}  // namespace edelta::base
