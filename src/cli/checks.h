// Checks of what a user typed, beyond those that CLI11 has.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <string>

namespace edelta::cli {

// An empty name is a variable that the shell found unset, never what was meant.
inline const CLI::Validator kNotEmpty(
    [](std::string& text) { return text.empty() ? std::string("it is empty") : std::string(); },
    "");

// CLI11 alone would take −1 for 2⁶⁴ − 1.
inline const CLI::Validator kSeed(
    [](std::string& text) {
      uint64_t seed = 0;
      const char* end = text.data() + text.size();
      const auto [rest, error] = std::from_chars(text.data(), end, seed);
      if (error == std::errc() && rest == end) return std::string();
      return "a seed is a whole number from 0 to 18446744073709551615, not " + text;
    },
    "");

}  // namespace edelta::cli
