#include "reproduce/report/typeset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "reproduce/report/number_text.h"

namespace edelta::reproduce::report {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A character before which nothing begins.
bool continues(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

size_t skip_digits(const std::string& text, size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

// A number with an exponent, and where it ends.
struct Scientific {
  std::string mantissa;
  int decimals = 0;  // of the mantissa
  int exponent = 0;
  size_t end = 0;
};

std::optional<Scientific> scientific_at(const std::string& text, size_t start) {
  constexpr size_t kMostDigits = 3;
  size_t at = skip_digits(text, start);
  if (at == start) return std::nullopt;
  Scientific number;
  if (at < text.size() && text[at] == '.') {
    const size_t end = skip_digits(text, at + 1);
    number.decimals = static_cast<int>(end - at - 1);
    at = end;
  }
  number.mantissa = text.substr(start, at - start);
  if (at == text.size() || text[at] != 'e') return std::nullopt;
  const size_t exponent = ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  number.end = skip_digits(text, at);
  if (number.end == at || number.end - at > kMostDigits) return std::nullopt;
  if (number.end < text.size() && continues(text[number.end]) && text[number.end] != '.') {
    return std::nullopt;
  }
  number.exponent = std::stoi(text.substr(exponent, number.end - exponent));
  return number;
}

std::string in_words(const Scientific& number) {
  constexpr int kPlainExponent = 2;
  if (std::abs(number.exponent) <= kPlainExponent) {
    const double value = std::stod(fmt::format("{}e{}", number.mantissa, number.exponent));
    return fmt::format("{:.{}f}", value, std::max(0, number.decimals - number.exponent));
  }
  const std::string power = power_of_ten(number.exponent);
  return number.mantissa == "1" ? power : number.mantissa + "×" + power;
}

}  // namespace

std::string typeset(const std::string& text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || !continues(text[at - 1]);
    if (begins && text[at] == '-' && at + 1 < text.size() && is_digit(text[at + 1])) {
      result += kMinus;
      ++at;
    } else if (const auto number = begins ? scientific_at(text, at) : std::nullopt) {
      result += in_words(*number);
      at = number->end;
    } else {
      result += text[at++];
    }
  }
  return result;
}

}  // namespace edelta::reproduce::report
