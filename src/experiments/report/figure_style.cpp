#include "experiments/report/figure_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace edelta::experiments::report {
namespace {

struct NamedStyle {
  const char* name;
  SeriesStyle style;
};

// The Okabe-Ito colours stay apart for colour-blind readers; dashes and marks tell the curves apart
// without any colour.
const std::array<NamedStyle, 6> kArchitectures{{
    {"gpt", {"#000000", "(14,4)", 4}},
    {"ddl", {"#E69F00", "(7,4)", 6}},
    {"mhc", {"#56B4E9", "(2,3)", 8}},
    {"jpmhc", {"#009E73", "(12,4,2,4)", 10}},
    {"edelta", {"#D55E00", "1", 7, 2.6}},
    {"edelta-stream", {"#CC79A7", "(14,4,2,4,2,4)", 12}},
}};

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

const NamedStyle* find(const std::string& name) {
  const auto* found = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                   [&](const NamedStyle& entry) { return entry.name == name; });
  return found == kArchitectures.end() ? nullptr : found;
}

}  // namespace

bool is_architecture(const std::string& name) { return find(name) != nullptr; }

SeriesStyle architecture_style(const std::string& name, int repetition) {
  const NamedStyle* entry = find(name);
  if (entry == nullptr) return numbered_style(repetition);
  SeriesStyle style = entry->style;
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

}  // namespace edelta::experiments::report
