// SHA-256 (FIPS 180-4): the hash by which ARC's grids and puzzles are known elsewhere, too.
#pragma once

#include <string>
#include <string_view>

namespace edelta::base {

// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace edelta::base
