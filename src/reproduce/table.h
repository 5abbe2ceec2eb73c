// A table of results: what the paper has, what was measured, and a verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "reproduce/paper_value.h"
#include "reproduce/verdict.h"

namespace edelta::reproduce {

// What was measured, over n seeds; one seed has no spread.
struct Mean {
  double mean = 0;
  std::optional<double> std;
  size_t n = 0;
};

// From 1 for the smallest.
struct Rank {
  int64_t value = 0;
};

using Absent = std::monostate;
// A double is a number that is shown as it is.
using Cell = std::variant<Absent, Mean, PaperValue, double, std::string, Rank>;

Cell mean_cell(const std::vector<double>& values);
Cell paper_cell(const std::optional<PaperValue>& value);
Cell text_cell(const std::string& text);  // absent when it is empty
std::vector<Cell> ranks(const std::vector<std::optional<double>>& values);

struct Column {
  std::string key, title;
  bool plain = true;  // its numbers are shown as they are, else in the table's unit
};

struct Row {
  std::string label;
  std::string model = {};                                // an architecture whose row it is
  std::optional<bool> sees_future = {};                  // of a trained model
  std::vector<std::pair<std::string, Cell>> cells = {};  // by the key of their column

  void set(const std::string& key, Cell cell);
  // Absent for a key that the row does not have.
  const Cell& cell(const std::string& key) const;
};

struct Table {
  std::string id, title;
  std::string unit = {};
  double scale = 1;  // the unit's size
  std::vector<Column> columns = {};
  std::vector<Row> rows = {};
  std::string note = {};
  std::optional<Verdict> verdict = {};  // absent: nothing to compare with
};

}  // namespace edelta::reproduce
