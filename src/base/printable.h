// Strings out of untrusted files, in messages.
#pragma once

#include <string>
#include <string_view>

namespace edelta::base {

// Quoted, on one line, without control characters, and cut where it is long.
inline std::string printable(std::string_view text) {
  constexpr std::size_t kMaximum = 80;
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMaximum)) {
    const auto code = static_cast<unsigned char>(c);
    quoted += code < 0x20 || code == 0x7f ? '?' : c;
  }
  return quoted + (text.size() > kMaximum ? "...\"" : "\"");
}

}  // namespace edelta::base
