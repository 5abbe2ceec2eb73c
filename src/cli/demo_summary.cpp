#include "cli/demo_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "cli/table.h"
#include "reproduce/report/document.h"

namespace edelta::cli {
namespace {

using reproduce::report::Document;
using reproduce::report::ReportSection;
using reproduce::report::ReportTable;
using reproduce::report::TableRow;

// The section of that id, or nothing.
const ReportSection* find_section(const Document& document, const std::string& id) {
  const auto found = std::find_if(document.sections.begin(), document.sections.end(),
                                  [&](const ReportSection& section) { return section.id == id; });
  return found == document.sections.end() ? nullptr : &*found;
}

// Those of the table's columns that have one of these titles; all of them where none is given.
std::string columns_text(const ReportTable& data, const std::string& row_title,
                         const std::vector<std::string>& titles) {
  std::vector<Table::Column> columns{{row_title}};
  std::vector<size_t> chosen;
  for (size_t i = 0; i < data.columns.size(); ++i) {
    const std::string& title = data.columns[i].title;
    if (!titles.empty() && std::find(titles.begin(), titles.end(), title) == titles.end()) continue;
    chosen.push_back(i);
    columns.push_back({title, Align::right});
  }
  Table table(columns);
  for (const TableRow& row : data.rows) {
    std::vector<std::string> cells{row.label};
    for (const size_t i : chosen) cells.push_back(row.cells[i].number.whole());
    table.add(cells);
  }
  return table.text();
}

std::string theorems_text(const ReportSection& section) {
  std::string text = "\nTheorems\n";
  for (const ReportTable& table : section.tables) text += table.reason + "\n";
  return text;
}

// The verdicts on the operators in a line each, and the alignments of all.
std::string reflection_text(const ReportSection& section) {
  std::string text = "\nReflection probe: can an operator, alone, learn x → −x?\n";
  for (const ReportTable& table : section.tables) {
    if (table.verdict) {
      const std::string name = table.title.substr(0, table.title.find(':'));
      text += fmt::format("{}, beside the paper: {}\n", name, *table.verdict);
    } else {
      text += fmt::format("\n{} (1 is −x, −1 is x)\n{}", table.title,
                          columns_text(table, "operator", {}));
    }
  }
  return text;
}

std::string race_text(const ReportSection& section) {
  std::string text = fmt::format("\nTraining race\n{}\n", section.method);
  for (const ReportTable& table : section.tables) {
    text += fmt::format("\n{}, {}\n{}", table.title, table.unit,
                        columns_text(table, "model", {"final", "rank", "parameters"}));
  }
  return text;
}

}  // namespace

std::string demo_summary(const reproduce::Results& results, const std::string& page) {
  const Document document = reproduce::report::make_document(results);
  std::string text;
  if (const auto* section = find_section(document, "theorems")) text += theorems_text(*section);
  if (const auto* section = find_section(document, "reflection")) text += reflection_text(*section);
  if (const auto* section = find_section(document, "main")) text += race_text(*section);
  return text + fmt::format(
                    "\nFigures, and the paper’s numbers beside these: {}\n"
                    "To go on:\n"
                    "  edelta reproduce --dry-run  every table of the paper, with its time\n"
                    "  edelta train --help         a model and a task of your choice\n"
                    "  edelta --help               everything else\n",
                    page);
}

}  // namespace edelta::cli
