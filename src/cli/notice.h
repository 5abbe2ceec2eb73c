// What a command says beside its result: on standard error, and without fail.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

namespace edelta::cli {

// Where standard error is full or closed there is nobody left to tell, and the work goes on.
template <class... Values>
void notice(fmt::format_string<Values...> format, Values&&... values) {
  const std::string text = fmt::format(format, std::forward<Values>(values)...);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace edelta::cli
