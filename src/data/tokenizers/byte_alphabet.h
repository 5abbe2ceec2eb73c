// GPT-2's way to write bytes as printable characters: a byte that is one in Latin-1 stands for
// itself, the others for U+0100, U+0101, … in their order.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace edelta::data {

std::string to_byte_alphabet(std::string_view bytes);
// Nothing where a character is not of this alphabet.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace edelta::data
