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

std::string mixed(const std::string& colour, int towards, double share) {
  std::string result = "#";
  for (const size_t at : {1, 3, 5}) {
    const int channel = std::stoi(colour.substr(at, 2), nullptr, 16);
    result +=
        fmt::format("{:02X}", static_cast<int>(std::lround(channel + share * (towards - channel))));
  }
  return result;
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

}  // namespace edelta::reproduce::report
