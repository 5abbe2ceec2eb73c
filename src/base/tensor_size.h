// How much memory a tensor that an untrusted file describes would take.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace edelta::base {

inline constexpr std::size_t kMaximumRank = 8;

// Nothing where it overflows. A zero dimension then counts as one: strides are products of the
// others, and they too must stay in range.
inline std::optional<std::uint64_t> tensor_bytes(const std::vector<std::int64_t>& shape,
                                                 std::size_t element_size) {
  auto bytes = static_cast<std::int64_t>(element_size);
  bool empty = false;
  for (const std::int64_t dimension : shape) {
    empty |= dimension == 0;
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(dimension, 1), &bytes)) return {};
  }
  return empty ? 0 : static_cast<std::uint64_t>(bytes);
}

}  // namespace edelta::base
