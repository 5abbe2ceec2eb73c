// Text as characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace edelta::base {

struct Character {
  std::size_t bytes = 1;
  std::uint32_t code_point = 0;
  bool valid = false;  // if not, the first byte is no part of any character
};

// The character that `text`, which must not be empty, begins with.
inline Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  if (lead < 0xc0 || lead >= 0xf8) return {};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  std::uint32_t point = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    point = point << 6 | (byte(i) & 0x3f);
  }
  // Each character has one encoding, the shortest; surrogates are none.
  const std::uint32_t smallest = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  if (point < smallest || point > 0x10ffff || surrogate) return {};
  return {bytes, point, true};
}

// Its UTF-8; empty where it is no character.
inline std::string utf8_of(std::uint32_t point) {
  if (point < 0x80) return {static_cast<char>(point)};
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  if (point > 0x10ffff || surrogate) return {};
  const std::size_t bytes = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  std::string text(bytes, '\0');
  for (std::size_t i = bytes - 1; i > 0; --i, point >>= 6) {
    text[i] = static_cast<char>(0x80 | (point & 0x3f));
  }
  text[0] = static_cast<char>((0xf00U >> bytes & 0xff) | point);
  return text;
}

// How many bytes of `text` are certain to be whole characters, or no part of any, whatever follows.
inline std::size_t whole_characters(std::string_view text) {
  constexpr std::size_t kLongest = 4;
  for (std::size_t back = 1; back < kLongest && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) break;
    if (byte < 0xc0) continue;  // goes on with what is before it
    const std::size_t needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? text.size() - back : text.size();
  }
  return text.size();
}

}  // namespace edelta::base
