#include "reproduce/report/dark_figure.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "edelta/base/error.h"
#include "reproduce/report/figure_style.h"

namespace edelta::reproduce::report {
namespace {

// A colour as gnuplot writes it, as #rrggbb; none for words that leave the colour to others.
std::optional<std::string> parse_colour(const std::string& value) {
  static const std::map<std::string, std::string> names{
      {"black", "#000000"}, {"white", "#ffffff"}, {"gray", "#808080"}, {"lightgrey", "#d3d3d3"}};
  if (const auto found = names.find(value); found != names.end()) return found->second;
  unsigned red = 0, green = 0, blue = 0;
  int end = 0;
  const auto parses = [&](const char* format) {
    end = 0;
    return std::sscanf(value.c_str(), format, &red, &green, &blue, &end) == 3 &&
           static_cast<size_t>(end) == value.size() && red < 256 && green < 256 && blue < 256;
  };
  if (!parses("rgb(%u ,%u ,%u )%n") && !parses("#%2x%2x%2x%n")) return std::nullopt;
  return fmt::format("#{:02x}{:02x}{:02x}", red, green, blue);
}

using Rules = std::set<std::string>;

// Adds a rule for every value that the attribute has: it matches that very text.
void collect_rules(const std::string& svg, const std::string& attribute, Rules& rules) {
  for (size_t at = 0; (at = svg.find(attribute, at)) != std::string::npos;) {
    at += attribute.size();
    const size_t equals = svg.find_first_not_of(' ', at);
    if (equals == std::string::npos || svg[equals] != '=') continue;
    const size_t quote = svg.find_first_not_of(' ', equals + 1);
    if (quote == std::string::npos || (svg[quote] != '\'' && svg[quote] != '"')) continue;
    const size_t end = svg.find(svg[quote], quote + 1);
    if (end == std::string::npos) continue;
    const std::string value = svg.substr(quote + 1, end - quote - 1);
    if (const auto colour = parse_colour(value)) {
      rules.insert(fmt::format("[{0}=\"{1}\"]{{{0}:{2}}}", attribute, value, on_dark(*colour)));
    }
  }
}

}  // namespace

std::string with_dark_colours(const std::string& svg) {
  Rules rules;
  for (const char* attribute : {"fill", "stroke", "color"}) collect_rules(svg, attribute, rules);
  const size_t element = svg.find("<svg");
  const size_t content = element == std::string::npos ? element : svg.find('>', element);
  if (content == std::string::npos) throw Failure("gnuplot wrote no SVG");
  return svg.substr(0, content + 1) +
         fmt::format("\n<style>@media (prefers-color-scheme: dark){{{}}}</style>",
                     fmt::join(rules, "")) +
         svg.substr(content + 1);
}

}  // namespace edelta::reproduce::report
