// A quantity of a table that the paper gives as well: the columns that set the two side by side.
#pragma once

#include <string>
#include <vector>

#include "experiments/result_cells.h"

namespace edelta::experiments {

class ComparedQuantity {
 public:
  ComparedQuantity(std::string key, std::string title, Tolerance tolerance);

  const std::string& key() const { return key_; }

  // The paper's value, ours, their ratio (or difference, where the tolerance is a distance), and
  // the ranks of both.
  void add_columns(Cell& columns) const;
  void add_row(const std::string& label, const PaperValue& paper, const std::vector<double>& ours,
               Cell& cells);
  // When all rows are there: `rows` of the table, in the order in which they were added.
  void set_ranks(Cell& rows) const;
  // Its reason begins with the quantity's title.
  Verdict verdict() const;

 private:
  std::string key_, title_;
  Tolerance tolerance_;
  std::vector<ComparedRow> rows_;
};

// Fills in the ranks, and the verdict that is the least favourable of all quantities'.
void conclude(const std::vector<ComparedQuantity>& quantities, Cell& table);

}  // namespace edelta::experiments
