// What is to be known of the terminal, if it is one.
#pragma once

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace edelta::cli {

// Of standard output; 80 where it is no terminal, and never too few to show something.
inline int output_columns() {
  constexpr int kUsual = 80, kFewest = 40;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsual;
  return std::max<int>(size.ws_col, kFewest);
}

// https://no-color.org
inline bool output_has_colours() {
  const char* unwanted = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && (unwanted == nullptr || *unwanted == '\0') &&
         terminal != nullptr && std::string_view(terminal) != "dumb";
}

}  // namespace edelta::cli
