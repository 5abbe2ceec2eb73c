// Views of an ARC task: turned or mirrored, with other colours (specification 12.3).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/random.h"
#include "data/puzzles/grid.h"

namespace edelta::data {

inline constexpr int kColours = 10;

struct ArcView {
  int transform = 0;
  std::array<std::uint8_t, kColours> colours{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};  // of each colour
};

// The colours first, then the transform; and back. Cells are below kColours.
Grid seen_through(const ArcView& view, const Grid& grid);
Grid as_before(const ArcView& view, const Grid& seen);

// Black stays black.
ArcView draw_view(base::RandomStream& random);

// "TASK|||t5|||0917865342"; the task alone is the view that changes nothing.
std::string view_name(const std::string& task, const ArcView& view);

struct NamedView {
  std::string task;
  ArcView view;
};
// InputError for a name that is neither.
NamedView parse_view_name(const std::string& name);

inline constexpr const char* kViewSeparator = "|||";

}  // namespace edelta::data
