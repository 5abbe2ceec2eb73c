// Times as people read them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace edelta::cli {

// 1:02:03, or 2:03 below an hour.
inline std::string duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace edelta::cli
