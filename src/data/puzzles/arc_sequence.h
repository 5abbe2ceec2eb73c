// ARC's grids as sequences of tokens, and back (specification 12.3).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "data/puzzles/grid.h"

namespace edelta::data {

inline constexpr int kArcSide = 30;
inline constexpr int kArcCells = kArcSide * kArcSide;
inline constexpr int kArcPad = 0, kArcEnd = 1, kArcFirstColour = 2;
inline constexpr int kArcVocab = 12;

// The grid with its upper left corner at (row, column), ends marked below and to the right of it.
std::array<std::uint8_t, kArcCells> arc_sequence(const Grid& grid, int row, int column);

// The largest rectangle of colours at the upper left whose rows are all full; of equal ones that
// with the fewest rows. It may have no cells.
Grid crop_arc(std::span<const std::int32_t> tokens);

}  // namespace edelta::data
