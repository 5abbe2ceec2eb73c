#include "experiments/compared_quantity.h"

#include <fmt/format.h>

namespace edelta::experiments {

ComparedQuantity::ComparedQuantity(std::string key, std::string title, Tolerance tolerance)
    : key_(std::move(key)), title_(std::move(title)), tolerance_(tolerance) {}

void ComparedQuantity::add_columns(Cell& columns) const {
  columns.push_back(column("paper_" + key_, title_ + ", paper"));
  columns.push_back(column(key_, title_ + ", here"));
  columns.push_back(
      column(key_ + "_compared", tolerance_.absolute ? "here − paper" : "here / paper"));
  columns.push_back(column("paper_" + key_ + "_rank", "rank in the paper"));
  columns.push_back(column(key_ + "_rank", "rank"));
}

void ComparedQuantity::add_row(const std::string& label, const PaperValue& paper,
                               const std::vector<double>& ours, Cell& cells) {
  const auto result = statistics(ours);
  cells["paper_" + key_] = paper_cell(paper);
  cells[key_] = mean_cell(ours);
  if (result) {
    cells[key_ + "_compared"] =
        value_cell(tolerance_.absolute ? result->mean - paper.mean : result->mean / paper.mean);
  }
  rows_.push_back({label, paper, result ? std::optional(result->mean) : std::nullopt});
}

void ComparedQuantity::set_ranks(Cell& rows) const {
  std::vector<std::optional<double>> paper, ours;
  for (const ComparedRow& row : rows_) {
    paper.emplace_back(row.paper.mean);
    ours.push_back(row.ours);
  }
  const std::vector<Cell> paper_ranks = ranks(paper), our_ranks = ranks(ours);
  for (size_t i = 0; i < rows_.size(); ++i) {
    rows[i]["cells"]["paper_" + key_ + "_rank"] = paper_ranks[i];
    rows[i]["cells"][key_ + "_rank"] = our_ranks[i];
  }
}

Verdict ComparedQuantity::verdict() const {
  Verdict verdict = judge(rows_, tolerance_);
  verdict.reason = fmt::format("{}: {}", title_, verdict.reason);
  return verdict;
}

void conclude(const std::vector<ComparedQuantity>& quantities, Cell& table) {
  std::optional<Verdict> verdict;
  for (const ComparedQuantity& quantity : quantities) {
    quantity.set_ranks(table["rows"]);
    verdict = verdict ? both(*verdict, quantity.verdict()) : quantity.verdict();
  }
  set_verdict(table, verdict);
}

}  // namespace edelta::experiments
