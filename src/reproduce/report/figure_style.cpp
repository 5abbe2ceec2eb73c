#include "reproduce/report/figure_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "edelta/models/registry.h"

namespace edelta::reproduce::report {
namespace {

const std::array<const char*, 7> kColours{"#0072B2", "#D55E00", "#009E73", "#E69F00",
                                          "#56B4E9", "#CC79A7", "#000000"};
const std::array<const char*, 4> kDashes{"1", "(7,4)", "(2,3)", "(12,4,2,4)"};
const std::array<int, 8> kMarks{7, 4, 8, 6, 10, 12, 5, 9};
const std::array<int, 4> kRepetitionMarks{13, 5, 9, 11};  // filled, which no other architecture has

using Rgb = std::array<double, 3>;  // 0 to 255

// The page's own in dark; page_style.h has them too.
constexpr Rgb kDarkGround{0x16, 0x18, 0x1c}, kDarkInk{0xe4, 0xe6, 0xea};

Rgb channels(const std::string& colour) {
  Rgb result{};
  for (size_t i = 0; i < 3; ++i) {
    result[i] = std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16);
  }
  return result;
}

std::string to_text(const Rgb& colour) {
  std::string result = "#";
  for (const double channel : colour) {
    result += fmt::format("{:02X}", static_cast<int>(std::lround(channel)));
  }
  return result;
}

Rgb mixed(const Rgb& from, const Rgb& towards, double share) {
  Rgb result{};
  for (size_t i = 0; i < 3; ++i) result[i] = from[i] + share * (towards[i] - from[i]);
  return result;
}

std::string mixed(const std::string& colour, double towards, double share) {
  return to_text(mixed(channels(colour), {towards, towards, towards}, share));
}

// Relative luminance, as contrast is defined by: 0 for black, 1 for white.
double luminance(const Rgb& colour) {
  constexpr Rgb kWeights{0.2126, 0.7152, 0.0722};
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    const double value = colour[i] / 255;
    sum +=
        kWeights[i] * (value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4));
  }
  return sum;
}

bool is_grey(const Rgb& colour) {
  const auto [least, most] = std::minmax_element(colour.begin(), colour.end());
  return *most - *least < 8;
}

// The look that the registry gives an architecture; none for names that are no architecture's.
std::optional<SeriesStyle> registered(const std::string& name) {
  for (const models::Architecture& each : models::architectures()) {
    if (each.name != name || each.look.colour.empty()) continue;
    return SeriesStyle{each.look.colour, each.look.dashes, each.look.mark, each.look.width};
  }
  return std::nullopt;
}

}  // namespace

bool is_architecture(const std::string& name) { return registered(name).has_value(); }

SeriesStyle architecture_style(const std::string& name, int repetition) {
  const std::optional<SeriesStyle> look = registered(name);
  if (!look) return numbered_style(repetition);
  SeriesStyle style = *look;
  if (repetition == 0) return style;
  const bool lighter = repetition % 2 == 0 || style.colour == "#000000";
  const double share = std::min(0.35 + 0.12 * repetition, 0.7);
  style.colour = lighter ? lightened(style.colour, share) : mixed(style.colour, 0, share);
  style.dashes = kDashes[static_cast<size_t>(repetition) % kDashes.size()];
  style.mark = kRepetitionMarks[static_cast<size_t>(repetition) % kRepetitionMarks.size()];
  return style;
}

SeriesStyle numbered_style(int index) {
  const auto i = static_cast<size_t>(index);
  // The second turn through the colours has other dashes and marks than the first.
  return {kColours[i % kColours.size()], kDashes[(i / kColours.size()) % kDashes.size()],
          kMarks[(i + i / kColours.size()) % kMarks.size()]};
}

std::string lightened(const std::string& colour, double share) { return mixed(colour, 255, share); }

std::string on_dark(const std::string& colour) {
  constexpr double kEnough = 0.28;  // a contrast of more than 5 with the ground
  Rgb result = channels(colour);
  if (is_grey(result)) return to_text(mixed(kDarkInk, kDarkGround, result[0] / 255));
  while (luminance(result) < kEnough) result = mixed(result, {255, 255, 255}, 0.05);
  return to_text(result);
}

}  // namespace edelta::reproduce::report
