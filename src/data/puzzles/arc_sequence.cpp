#include "data/puzzles/arc_sequence.h"

namespace edelta::data {

std::array<std::uint8_t, kArcCells> arc_sequence(const Grid& grid, int row, int column) {
  std::array<std::uint8_t, kArcCells> tokens{};
  const int below = row + grid.rows, right = column + grid.columns;
  for (int i = 0; i < grid.rows; ++i) {
    std::uint8_t* out = tokens.data() + (row + i) * kArcSide;
    for (int j = 0; j < grid.columns; ++j) {
      out[column + j] = static_cast<std::uint8_t>(grid.at(i, j) + kArcFirstColour);
    }
    if (right < kArcSide) out[right] = kArcEnd;
  }
  for (int j = column; j < right && below < kArcSide; ++j) tokens[below * kArcSide + j] = kArcEnd;
  return tokens;
}

Grid crop_arc(std::span<const std::int32_t> tokens) {
  int rows = 0, columns = 0;
  for (int r = 1, width = kArcSide; r <= kArcSide; ++r) {
    const std::int32_t* row = tokens.data() + (r - 1) * kArcSide;
    int full = 0;
    while (full < width && row[full] >= kArcFirstColour && row[full] < kArcVocab) ++full;
    width = full;
    if (r * width > rows * columns) rows = r, columns = width;
  }
  Grid grid{rows, columns, {}};
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      grid.cells.push_back(static_cast<std::uint8_t>(tokens[i * kArcSide + j] - kArcFirstColour));
    }
  }
  return grid;
}

}  // namespace edelta::data
