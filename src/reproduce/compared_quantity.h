// A quantity of a table that the paper gives as well: the columns that set the two side by side.
#pragma once

#include <string>
#include <vector>

#include "reproduce/table.h"

namespace edelta::reproduce {

class ComparedQuantity {
 public:
  ComparedQuantity(std::string key, std::string title, Tolerance tolerance);

  // The paper's value, ours, their ratio (or difference, where the tolerance is a distance), and
  // the ranks of both.
  void add_columns(std::vector<Column>& columns) const;
  void add_row(const std::string& label, const PaperValue& paper, const std::vector<double>& ours,
               Row& row);
  // When all rows are there, in the order in which they were added.
  void set_ranks(std::vector<Row>& rows) const;
  // Its reason begins with the quantity's title.
  Verdict verdict() const;

 private:
  std::string key_, title_;
  Tolerance tolerance_;
  std::vector<ComparedRow> rows_;
};

std::vector<Column> columns_of(const std::vector<ComparedQuantity>& quantities);
// Fills in the ranks, and the verdict that is the least favourable of all quantities'.
void conclude(const std::vector<ComparedQuantity>& quantities, Table& table);

}  // namespace edelta::reproduce
