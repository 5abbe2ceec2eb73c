#include "experiments/result_cells.h"

#include <algorithm>
#include <cmath>

namespace edelta::experiments {

std::optional<Statistics> statistics(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  Statistics result{.n = values.size()};
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / n;
  for (const double value : values) result.std += std::pow(value - result.mean, 2);
  result.std = values.size() > 1 ? std::sqrt(result.std / (n - 1)) : 0;
  return result;
}

Cell mean_cell(const std::vector<double>& values) {
  const auto result = statistics(values);
  if (!result) return nullptr;
  Cell cell{{"mean", result->mean}};
  if (result->n > 1) cell["std"] = result->std;
  cell["n"] = result->n;
  return cell;
}

Cell paper_cell(const std::optional<PaperValue>& value) {
  if (!value) return nullptr;
  Cell cell{{"mean", value->mean}};
  if (value->std) cell["std"] = *value->std;
  return cell;
}

Cell value_cell(double value) { return {{"value", value}}; }

Cell text_cell(const std::string& text) { return text.empty() ? Cell() : Cell{{"text", text}}; }

Cell column(const std::string& key, const std::string& title, bool plain) {
  Cell column{{"key", key}, {"title", title}};
  if (plain) column["plain"] = true;
  return column;
}

std::vector<Cell> ranks(const std::vector<std::optional<double>>& values) {
  std::vector<Cell> cells;
  for (const auto& value : values) {
    const auto smaller = std::count_if(values.begin(), values.end(), [&](const auto& other) {
      return value && other && *other < *value;
    });
    cells.push_back(value ? Cell{{"value", smaller + 1}} : Cell());
  }
  return cells;
}

void set_verdict(Cell& table, const std::optional<Verdict>& verdict) {
  table["verdict"] = verdict ? Cell(verdict->text) : Cell();
  if (verdict) table["reason"] = verdict->reason;
}

}  // namespace edelta::experiments
