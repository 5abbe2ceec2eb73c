// Standard input, to its end.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "edelta/base/error.h"

namespace edelta::cli {

// InputError where there is more than `most`.
inline std::string read_standard_input(size_t most) {
  std::string bytes;
  std::array<char, 1 << 16> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), stdin)) {
    bytes.append(buffer.data(), count);
    if (bytes.size() > most) {
      throw InputError(fmt::format("standard input has more than {} bytes", most));
    }
  }
  if (std::ferror(stdin)) {
    throw InputError(fmt::format("cannot read standard input: {}", std::strerror(errno)));
  }
  return bytes;
}

}  // namespace edelta::cli
