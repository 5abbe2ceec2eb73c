// The parts of a table in results.json.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/verdict.h"

namespace edelta::experiments {

using Cell = nlohmann::ordered_json;

// Mean and sample standard deviation; absent values give no cell.
struct Statistics {
  double mean = 0, std = 0;
  size_t n = 0;
};
std::optional<Statistics> statistics(const std::vector<double>& values);

Cell mean_cell(const std::vector<double>& values);  // null without values
Cell paper_cell(const std::optional<PaperValue>& value);
Cell value_cell(double value);
Cell text_cell(const std::string& text);

// A column whose numbers are shown as they are has `plain` set; the others in the table's unit.
Cell column(const std::string& key, const std::string& title, bool plain = true);

// Ranks from 1 for the smallest; null for what is absent.
std::vector<Cell> ranks(const std::vector<std::optional<double>>& values);

void set_verdict(Cell& table, const std::optional<Verdict>& verdict);

}  // namespace edelta::experiments
