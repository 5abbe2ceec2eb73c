// What was measured of a run, as a cell of a table; a dash where it was not.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "cli/table.h"

namespace edelta::cli {

inline std::string loss_cell(const std::optional<double>& loss) {
  return loss ? fmt::format("{:.3e}", *loss) : Table::kNothing;
}

inline std::string bits_cell(const std::optional<double>& bits_per_byte) {
  return bits_per_byte ? fmt::format("{:.4f}", *bits_per_byte) : Table::kNothing;
}

inline std::string share_cell(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f} %", 100 * *share) : Table::kNothing;
}

}  // namespace edelta::cli
