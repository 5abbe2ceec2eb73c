#include "data/tokenizers/byte_alphabet.h"

#include "base/utf8.h"

namespace edelta::data {
namespace {

constexpr std::uint32_t kFirstStandIn = 0x100;
constexpr std::uint32_t kStandIns = 68;

struct Alphabet {
  std::array<std::string, 256> character;
  std::array<int, kFirstStandIn + kStandIns> byte;  // by code point; −1: none

  Alphabet() {
    byte.fill(-1);
    std::uint32_t stand_in = kFirstStandIn;
    for (std::uint32_t i = 0; i < character.size(); ++i) {
      // All but controls, spaces and the soft hyphen.
      const bool printable = (i > 0x20 && i < 0x7f) || (i > 0xa0 && i != 0xad);
      const std::uint32_t point = printable ? i : stand_in++;
      character[i] = base::utf8_of(point);
      byte[point] = static_cast<int>(i);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet made;
  return made;
}

}  // namespace

std::string to_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += alphabet().character[static_cast<unsigned char>(byte)];
  return text;
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const base::Character character = base::first_character(text);
    const auto& byte_of = alphabet().byte;
    if (!character.valid || character.code_point >= byte_of.size()) return std::nullopt;
    const int byte = byte_of[character.code_point];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    text.remove_prefix(character.bytes);
  }
  return bytes;
}

}  // namespace edelta::data
