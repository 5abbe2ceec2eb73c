#include "data/puzzles/grid.h"

#include "base/sha256.h"

namespace edelta::data {

Grid transformed(const Grid& grid, int transform) {
  const int rows = grid.rows, columns = grid.columns;
  const bool turned = transform == 1 || transform == 3 || transform >= 6;
  Grid out{turned ? columns : rows, turned ? rows : columns, {}};
  out.cells.resize(grid.cells.size());
  for (int i = 0; i < out.rows; ++i) {
    for (int j = 0; j < out.columns; ++j) {
      const int up = rows - 1, left = columns - 1;
      switch (transform) {
        case 1:
          out.at(i, j) = grid.at(j, left - i);
          break;
        case 2:
          out.at(i, j) = grid.at(up - i, left - j);
          break;
        case 3:
          out.at(i, j) = grid.at(up - j, i);
          break;
        case 4:
          out.at(i, j) = grid.at(i, left - j);
          break;
        case 5:
          out.at(i, j) = grid.at(up - i, j);
          break;
        case 6:
          out.at(i, j) = grid.at(j, i);
          break;
        case 7:
          out.at(i, j) = grid.at(up - j, left - i);
          break;
        default:
          out.at(i, j) = grid.at(i, j);
      }
    }
  }
  return out;
}

int inverse_transform(int transform) {
  // Only the quarter turns are not their own inverses.
  return transform == 1 ? 3 : transform == 3 ? 1 : transform;
}

std::string grid_hash(const Grid& grid) {
  std::string bytes{static_cast<char>(grid.rows), static_cast<char>(grid.columns)};
  bytes.append(grid.cells.begin(), grid.cells.end());
  return base::sha256(bytes);
}

}  // namespace edelta::data
