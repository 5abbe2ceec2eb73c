#include "reproduce/table.h"

#include <algorithm>

#include "reproduce/statistics.h"

namespace edelta::reproduce {
namespace {

template <class Cells>
auto find_cell(Cells& cells, const std::string& key) {
  return std::find_if(cells.begin(), cells.end(),
                      [&](const auto& entry) { return entry.first == key; });
}

}  // namespace

Cell mean_cell(const std::vector<double>& values) {
  const auto result = statistics(values);
  if (!result) return Absent();
  return Mean{result->mean, result->n > 1 ? std::optional(result->std) : std::nullopt, result->n};
}

Cell paper_cell(const std::optional<PaperValue>& value) {
  return value ? Cell(*value) : Cell(Absent());
}

Cell text_cell(const std::string& text) { return text.empty() ? Cell(Absent()) : Cell(text); }

std::vector<Cell> ranks(const std::vector<std::optional<double>>& values) {
  std::vector<Cell> cells;
  for (const auto& value : values) {
    const auto smaller = std::count_if(values.begin(), values.end(), [&](const auto& other) {
      return value && other && *other < *value;
    });
    cells.push_back(value ? Cell(Rank{smaller + 1}) : Cell(Absent()));
  }
  return cells;
}

void Row::set(const std::string& key, Cell cell) {
  const auto found = find_cell(cells, key);
  if (found == cells.end()) {
    cells.emplace_back(key, std::move(cell));
  } else {
    found->second = std::move(cell);
  }
}

const Cell& Row::cell(const std::string& key) const {
  static const Cell absent;
  const auto found = find_cell(cells, key);
  return found == cells.end() ? absent : found->second;
}

}  // namespace edelta::reproduce
