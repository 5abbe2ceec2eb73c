// What a .npy file begins with, read from any source that has remaining() and read().
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/npy_header.h"

namespace edelta::base {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";
inline constexpr std::size_t kNpyPreludeBytes = 8;  // magic, major and minor version
inline constexpr std::uint32_t kMaximumNpyHeaderBytes = 1 << 16;

template <class Source>
std::uint32_t read_npy_header_length(Source& source, const std::string& name) {
  char prelude[kNpyPreludeBytes];
  if (source.remaining() < kNpyPreludeBytes) reject_npy(name, "it is shorter than 8 bytes");
  source.read(prelude, kNpyPreludeBytes);
  if (std::string_view(prelude, kNpyMagic.size()) != kNpyMagic) {
    reject_npy(name, "it does not start with \\x93NUMPY");
  }
  const auto major = static_cast<unsigned char>(prelude[6]);
  if (major < 1 || major > 3 || prelude[7] != 0) {
    reject_npy(name, fmt::format("version {}.{} is unknown", major,
                                 static_cast<unsigned char>(prelude[7])));
  }
  std::uint32_t length = 0;
  const std::size_t bytes = major == 1 ? 2 : 4;
  if (source.remaining() < bytes) reject_npy(name, "it ends before its header");
  source.read(&length, bytes);
  if (length > source.remaining() || length > kMaximumNpyHeaderBytes) {
    reject_npy(name, fmt::format("the header of {} bytes exceeds {}", length,
                                 length > source.remaining() ? "the file" : "any that is needed"));
  }
  return length;
}

template <class Source>
NpyHeader load_npy_header(Source& source, const std::string& name, NpyElements elements) {
  const std::uint32_t length = read_npy_header_length(source, name);
  std::string text(length, '\0');
  source.read(text.data(), length);
  return parse_npy_header(text, name, elements);
}

}  // namespace edelta::base
