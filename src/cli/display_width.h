// Columns on a terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace edelta::cli {

// Every UTF-8 sequence counts as one.
inline std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace edelta::cli
