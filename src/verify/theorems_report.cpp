#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/required_fields.h"
#include "edelta/verify/theorems.h"

namespace edelta::verify {
namespace {

constexpr size_t kIdWidth = 32, kTextWidth = 49, kWorstWidth = 9, kBoundWidth = 9;

// Code points, each of which the text here shows in one column, except combining marks: none used.
size_t display_width(const std::string& text) {
  return std::count_if(text.begin(), text.end(),
                       [](unsigned char byte) { return (byte & 0xC0) != 0x80; });
}

std::string padded(const std::string& text, size_t width) {
  const size_t taken = display_width(text);
  return text + std::string(taken < width ? width - taken : 0, ' ');
}

std::vector<std::string> wrapped(const std::string& text, size_t width) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (lines.empty() || display_width(lines.back()) + 1 + display_width(word) > width) {
      lines.push_back(word);
    } else {
      lines.back() += " " + word;
    }
  }
  return lines;
}

const char* verdict(const TheoremRow& row) { return row.holds() ? "holds" : "FAILS"; }

std::string line(const std::string& id, const std::string& text, const std::string& worst,
                 const std::string& bound, const std::string& verdict) {
  std::string whole = padded(id, kIdWidth) + "  " + padded(text, kTextWidth) + "  " +
                      padded(worst, kWorstWidth) + padded(bound, kBoundWidth) + verdict;
  whole.erase(whole.find_last_not_of(' ') + 1);
  return whole + "\n";
}

// The statement first, what was measured and noted below it, indented.
std::string block(const TheoremRow& row) {
  std::vector<std::string> lines = wrapped(row.statement, kTextWidth);
  for (const std::string& below : {row.measured, row.note}) {
    for (const std::string& part : wrapped(below, kTextWidth - 2)) lines.push_back("  " + part);
  }
  const std::string bound =
      fmt::format("{} {:.3g}", row.relation == Relation::at_most ? "≤" : "≥", row.bound);
  std::string text =
      line(row.id, lines.front(), fmt::format("{:.1e}", row.worst), bound, verdict(row));
  for (size_t i = 1; i < lines.size(); ++i) text += line("", lines[i], "", "", "");
  return text;
}

const char* sign(Relation relation) { return relation == Relation::at_most ? "<=" : ">="; }

Relation relation_from(const std::string& text) {
  for (const Relation relation : {Relation::at_most, Relation::at_least}) {
    if (text == sign(relation)) return relation;
  }
  throw InputError(fmt::format("relation is '{}'; it must be <= or >=", text));
}

TheoremRow row_from_json(const nlohmann::json& json) {
  TheoremRow row{.statement = base::required<std::string>(json, "statement"),
                 .measured = base::required<std::string>(json, "measured"),
                 .worst = base::required_number(json, "worst"),
                 .relation = relation_from(base::required<std::string>(json, "relation")),
                 .bound = base::required<double>(json, "bound"),
                 .note = base::required<std::string>(json, "note"),
                 .id = base::required<std::string>(json, "id")};
  // An infinity is written as null, like NaN; the verdict tells them apart.
  if (std::isnan(row.worst) && base::required<std::string>(json, "verdict") == "holds") {
    row.worst = row.relation == Relation::at_most ? -INFINITY : INFINITY;
  }
  return row;
}

}  // namespace

std::string to_table(const TheoremReport& report) {
  std::string text =
      line("theorem", "statement, and what was measured", "worst", "bound", "verdict");
  for (const TheoremRow& row : report.rows) text += block(row);
  const int64_t failures = report.failures();
  return text +
         fmt::format("\n{} statements, {} (worst case over {} samples of each n in {{{}}})\n",
                     report.rows.size(),
                     failures == 0 ? "all hold" : fmt::format("{} FAIL", failures),
                     report.options.samples, fmt::join(report.options.sizes, ", "));
}

nlohmann::ordered_json to_json(const TheoremReport& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const TheoremRow& row : report.rows) {
    rows.push_back({{"id", row.id},
                    {"statement", row.statement},
                    {"measured", row.measured},
                    {"worst", row.worst},
                    {"relation", sign(row.relation)},
                    {"bound", row.bound},
                    {"verdict", row.holds() ? "holds" : "fails"},
                    {"note", row.note}});
  }
  return {{"rows", rows},
          {"all_hold", report.all_hold()},
          {"samples", report.options.samples},
          {"n", report.options.sizes},
          {"seed", report.options.seed}};
}

TheoremReport theorem_report_from_json(const nlohmann::json& json, const std::string& source) {
  TheoremReport report;
  with_source(source, [&] {
    report.options.samples = base::required<int64_t>(json, "samples");
    report.options.seed = base::required<int64_t>(json, "seed");
    report.options.sizes.clear();
    for (const nlohmann::json& n : base::required_list(json, "n")) {
      json_fields::read("n", n, report.options.sizes.emplace_back());
    }
    for (const nlohmann::json& row : base::required_list(json, "rows")) {
      report.rows.push_back(row_from_json(row));
    }
  });
  return report;
}

}  // namespace edelta::verify
