// Rectangles of small numbers, and the eight ways to turn and mirror them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace edelta::data {

struct Grid {
  int rows = 0, columns = 0;
  std::vector<std::uint8_t> cells;  // row by row

  std::uint8_t& at(int row, int column) { return cells[row * columns + column]; }
  std::uint8_t at(int row, int column) const { return cells[row * columns + column]; }
  bool operator==(const Grid&) const = default;
};

inline constexpr int kTransforms = 8;

// 0 identity; 1, 2, 3 quarter turns counter-clockwise; 4 the columns and 5 the rows reversed;
// 6 transposed; 7 transposed at the other diagonal (specification 12.3).
Grid transformed(const Grid& grid, int transform);
int inverse_transform(int transform);

// SHA-256 of the numbers of rows and columns, a byte each, and of the cells.
std::string grid_hash(const Grid& grid);

}  // namespace edelta::data
