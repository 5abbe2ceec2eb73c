#include "reproduce/compared_quantity.h"

#include <fmt/format.h>

#include "reproduce/statistics.h"

namespace edelta::reproduce {

ComparedQuantity::ComparedQuantity(std::string key, std::string title, Tolerance tolerance)
    : key_(std::move(key)), title_(std::move(title)), tolerance_(tolerance) {}

void ComparedQuantity::add_columns(std::vector<Column>& columns) const {
  columns.push_back({"paper_" + key_, title_ + ", paper"});
  columns.push_back({key_, title_ + ", here"});
  columns.push_back({key_ + "_compared", tolerance_.absolute ? "here − paper" : "here / paper"});
  columns.push_back({"paper_" + key_ + "_rank", "rank in the paper"});
  columns.push_back({key_ + "_rank", "rank"});
}

void ComparedQuantity::add_row(const std::string& label, const PaperValue& paper,
                               const std::vector<double>& ours, Row& row) {
  const auto result = statistics(ours);
  row.set("paper_" + key_, paper);
  row.set(key_, mean_cell(ours));
  if (result) {
    row.set(key_ + "_compared",
            tolerance_.absolute ? result->mean - paper.mean : result->mean / paper.mean);
  }
  rows_.push_back({label, paper, result ? std::optional(result->mean) : std::nullopt});
}

void ComparedQuantity::set_ranks(std::vector<Row>& rows) const {
  std::vector<std::optional<double>> paper, ours;
  for (const ComparedRow& row : rows_) {
    paper.emplace_back(row.paper.mean);
    ours.push_back(row.ours);
  }
  const std::vector<Cell> paper_ranks = ranks(paper), our_ranks = ranks(ours);
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows[i].set("paper_" + key_ + "_rank", paper_ranks[i]);
    rows[i].set(key_ + "_rank", our_ranks[i]);
  }
}

Verdict ComparedQuantity::verdict() const {
  Verdict verdict = judge(rows_, tolerance_);
  verdict.reason = fmt::format("{}: {}", title_, verdict.reason);
  return verdict;
}

std::vector<Column> columns_of(const std::vector<ComparedQuantity>& quantities) {
  std::vector<Column> columns;
  for (const ComparedQuantity& each : quantities) each.add_columns(columns);
  return columns;
}

void conclude(const std::vector<ComparedQuantity>& quantities, Table& table) {
  table.verdict.reset();
  for (const ComparedQuantity& quantity : quantities) {
    quantity.set_ranks(table.rows);
    table.verdict = table.verdict ? both(*table.verdict, quantity.verdict()) : quantity.verdict();
  }
}

}  // namespace edelta::reproduce
