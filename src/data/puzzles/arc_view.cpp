#include "data/puzzles/arc_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>

#include "base/printable.h"
#include "data/puzzles/shuffle.h"
#include "edelta/base/error.h"

namespace edelta::data {
namespace {

void recolour(Grid& grid, const std::array<std::uint8_t, kColours>& colours) {
  for (std::uint8_t& cell : grid.cells) cell = colours[cell];
}

}  // namespace

Grid seen_through(const ArcView& view, const Grid& grid) {
  Grid seen = transformed(grid, view.transform);
  recolour(seen, view.colours);
  return seen;
}

Grid as_before(const ArcView& view, const Grid& seen) {
  Grid grid = transformed(seen, inverse_transform(view.transform));
  std::array<std::uint8_t, kColours> inverse{};
  for (std::uint8_t colour = 0; colour < kColours; ++colour) {
    inverse[view.colours[colour]] = colour;
  }
  recolour(grid, inverse);
  return grid;
}

ArcView draw_view(base::RandomStream& random) {
  ArcView view;
  view.transform = static_cast<int>(random.below(kTransforms));
  std::span<std::uint8_t> but_black(view.colours.data() + 1, kColours - 1);
  shuffle(but_black, random);
  return view;
}

std::string view_name(const std::string& task, const ArcView& view) {
  return fmt::format("{}{}t{}{}{}", task, kViewSeparator, view.transform, kViewSeparator,
                     fmt::join(view.colours, ""));
}

NamedView parse_view_name(const std::string& name) {
  const std::string separator = kViewSeparator;
  const std::size_t first = name.find(separator);
  if (first == std::string::npos) return {name, {}};
  NamedView named{name.substr(0, first), {}};
  const std::string rest = name.substr(first + separator.size());
  std::array<bool, kColours> used{};
  bool right = rest.size() == 2 + separator.size() + kColours && rest[0] == 't' && rest[1] >= '0' &&
               rest[1] < '0' + kTransforms && rest.compare(2, separator.size(), separator) == 0;
  for (int i = 0; right && i < kColours; ++i) {
    const char digit = rest[2 + separator.size() + i];
    right = digit >= '0' && digit <= '9' && !used[digit - '0'];
    if (!right) break;
    used[digit - '0'] = true;
    named.view.colours[i] = static_cast<std::uint8_t>(digit - '0');
  }
  if (!right) {
    throw InputError(fmt::format("{} names no view: TASK|||t0 to t7|||a permutation of 0123456789",
                                 base::printable(name)));
  }
  named.view.transform = rest[1] - '0';
  return named;
}

}  // namespace edelta::data
