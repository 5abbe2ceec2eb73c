#include "reproduce/report/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace edelta::reproduce::report {
namespace {

int exponent_of(double value) {
  return value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-12));
}

// Of everyday size: written without a power of ten.
bool is_plain(double value) {
  return value == 0 || (std::abs(value) >= 1e-3 && std::abs(value) < 1e6);
}

std::string fixed(double value, int decimals) {
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return text.starts_with('-') ? kMinus + text.substr(1) : text;
}

// Decimals that show the spread's leading digit; at least three digits of the mean, at most five.
int decimals_for(double mean, double std) {
  const int three_digits = 2 - exponent_of(mean);
  if (std <= 0) return std::max(three_digits, 0);
  const int wanted = -exponent_of(std);
  const int most = mean == 0 ? wanted : 4 - exponent_of(mean);
  return std::max(0, std::max(three_digits, std::min(wanted, most)));
}

}  // namespace

NumberText mean_text(double mean, double std) {
  if (!std::isfinite(mean)) return {std::isnan(mean) ? "not a number" : "infinite", ""};
  if (!std::isfinite(std) || std < 0) std = 0;
  const int exponent = is_plain(mean) ? 0 : exponent_of(mean);
  const double unit = std::pow(10.0, exponent);
  const int decimals = decimals_for(mean / unit, std / unit);
  NumberText text{fixed(mean / unit, decimals), ""};
  if (std > 0) text.spread = fixed(std / unit, decimals);
  if (exponent == 0) return text;
  const std::string power = "×" + power_of_ten(exponent);
  if (text.spread.empty()) return {text.value + power, ""};
  return {"(" + text.value, text.spread + ")" + power};
}

std::string value_text(double value) { return value == 0 ? "0" : mean_text(value, 0).value; }

std::string count_text(std::int64_t count) {
  std::string digits = std::to_string(std::abs(count));
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return (count < 0 ? kMinus : "") + digits;
}

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string power_of_ten(int exponent) {
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

}  // namespace edelta::reproduce::report
