// Names and strings from outside, in messages.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace edelta::base {

// On one line, and harmless to a terminal: control characters, those that change the direction of
// writing, and bytes that are no UTF-8 are written as \n, \x1b, \u202e. What is escaped once stays.
inline std::string escaped(std::string_view text) {
  const auto hidden = [](std::uint32_t point) {
    return point < 0x20 || (point >= 0x7f && point < 0xa0) ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
  };
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.valid && !hidden(character.code_point)) {
      result += text.substr(0, character.bytes);
    } else if (text[0] == '\n') {
      result += "\\n";
    } else if (text[0] == '\t') {
      result += "\\t";
    } else {
      const auto byte = static_cast<unsigned char>(text[0]);
      const std::uint32_t code = character.valid ? character.code_point : byte;
      char code_text[8];
      std::snprintf(code_text, sizeof code_text, code > 0xff ? "\\u%04x" : "\\x%02x", code);
      result += code_text;
    }
    text.remove_prefix(character.bytes);
  }
  return result;
}

// Quoted, escaped, and cut where it is long.
inline std::string printable(std::string_view text) {
  constexpr std::size_t kMaximum = 80;
  std::size_t kept = 0;
  while (kept < text.size()) {
    const std::size_t bytes = first_character(text.substr(kept)).bytes;
    if (kept + bytes > kMaximum) break;
    kept += bytes;
  }
  return '"' + escaped(text.substr(0, kept)) + (kept < text.size() ? "...\"" : "\"");
}

}  // namespace edelta::base
