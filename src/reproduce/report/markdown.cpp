#include "reproduce/report/markdown.h"

#include <fmt/format.h>

#include <sstream>

namespace edelta::reproduce::report {
namespace {

std::string escaped(const std::string& text) { return markdown_escaped(text); }

std::string table_line(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string anchor(const std::string& id) { return fmt::format("<a id=\"{}\"></a>\n\n", id); }

std::string verdict_line(const ReportTable& table) {
  if (!table.verdict) return "";
  return fmt::format("Verdict: **{}**. {}\n\n", escaped(*table.verdict), escaped(table.reason));
}

std::string cell_text(const TableCell& cell) {
  return escaped(cell.number.whole()) + (cell.remark.empty() ? "" : " (" + cell.remark + ")");
}

std::string table_text(const ReportTable& table) {
  std::string text = anchor("table-" + table.id) + "**" + escaped(table.title) + "**";
  if (!table.unit.empty()) text += ", " + escaped(table.unit);
  text += "\n\n";
  if (!table.rows.empty()) {
    std::vector<std::string> titles{" "}, rules{"---"};
    for (const TableColumn& column : table.columns) {
      titles.push_back(escaped(column.title));
      rules.push_back(column.numeric ? "---:" : "---");
    }
    text += table_line(titles) + table_line(rules);
    for (const TableRow& row : table.rows) {
      std::vector<std::string> cells{escaped(row.label) + (row.sees_future ? " †" : "")};
      for (const TableCell& cell : row.cells) cells.push_back(cell_text(cell));
      text += table_line(cells);
    }
    text += "\n";
  }
  if (table.sees_future()) text += fmt::format("† {}\n\n", kSeesFuture);
  if (!table.note.empty()) text += escaped(table.note) + "\n\n";
  if (!table.terms.empty()) {
    text += escaped(fmt::format("{}", fmt::join(table.terms, " "))) + "\n\n";
  }
  return text + verdict_line(table);
}

// A block of code, whatever is in it.
std::string indented(const std::string& text) {
  std::string block;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) block += "    " + line + "\n";
  return block;
}

std::string section_text(const ReportSection& section) {
  std::string text = anchor("experiment-" + section.id) + "## " + escaped(section.title) + "\n\n";
  if (section.ours) text += "Not in the paper.\n\n";
  if (!section.claim.empty()) text += "The paper: " + escaped(section.claim) + "\n\n";
  if (!section.method.empty()) text += "Here: " + escaped(section.method) + "\n\n";
  text += "Progress: " + section.progress + ".\n\n";
  for (const ReportTable& table : section.tables) text += table_text(table);
  for (const ReportFigure& figure : section.figures) {
    text += fmt::format("![{}](figures/{}.svg)\n\n*{}* {}\n\n", escaped(figure.description),
                        figure.id, escaped(figure.sentence()), escaped(figure.caption));
  }
  for (const TextSample& sample : section.samples) {
    text += escaped(sample.label) + ":\n\n" + indented(sample.text) + "\n";
  }
  return text;
}

std::string summary_text(const Document& document) {
  std::string text = "## Summary\n\n" + document.outcome + "\n\n";
  text += table_line({"experiment", "comparison", "verdict", "why"}) +
          table_line({"---", "---", "---", "---"});
  std::vector<std::string> not_begun;
  for (const ReportSection& section : document.sections) {
    const std::string link =
        fmt::format("[{}](#experiment-{})", escaped(section.title), section.id);
    if (!section.begun) not_begun.push_back(link);
    for (const ReportTable& table : section.tables) {
      if (!section.begun || !table.is_run()) continue;
      text += table_line({link, fmt::format("[{}](#table-{})", escaped(table.title), table.id),
                          table.verdict ? "**" + escaped(*table.verdict) + "**" : kNothing,
                          table.verdict ? escaped(table.reason) : kNothingToCompare});
    }
  }
  if (!not_begun.empty()) {
    text += fmt::format("\n{}: {}.\n", kNotBegun, fmt::join(not_begun, ", "));
  }
  return text + "\n";
}

std::string list_text(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += "- " + escaped(item) + "\n";
  return text + "\n";
}

std::string facts_text(const std::vector<Fact>& facts) {
  std::string text;
  for (const Fact& fact : facts) {
    std::vector<std::string> values;
    for (const std::string& value : fact.values) values.push_back(escaped(value));
    text += fmt::format("- {}: {}\n", escaped(fact.name), fmt::join(values, "; "));
  }
  return text + "\n";
}

std::string differences_text(const std::vector<ProtocolDifference>& differences) {
  std::string text = table_line({"matter", "paper", "published code", "here"}) +
                     table_line({"---", "---", "---", "---"});
  for (const ProtocolDifference& each : differences) {
    text += table_line({escaped(each.matter), escaped(each.paper), escaped(each.published_code),
                        escaped(each.here)});
  }
  return text + "\n" + kSaysNothing + "\n";
}

}  // namespace

std::string markdown_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (static_cast<unsigned char>(c) < ' ') {
      result += ' ';
    } else {
      if (std::string_view("\\`*_[]>|~$#").find(c) != std::string_view::npos) result += '\\';
      result += c;
    }
  }
  return result;
}

std::string to_markdown(const Document& document) {
  std::string text = fmt::format("# {}\n\n{} The paper: {}, [{}]({}).\n\n", kReportTitle,
                                 kReportPurpose, kPaper, kPaperNumber, kPaperAddress);
  text += summary_text(document);
  text += "## What was run\n\n" + facts_text(document.facts);
  if (!document.unfinished.empty())
    text += "Not all is done of:\n\n" + list_text(document.unfinished);
  text += "## How the verdicts are found\n\n" + list_text(document.verdict_rule);
  for (const ReportSection& section : document.sections) text += section_text(section);
  if (!document.differences.empty()) {
    text += "## Where paper, published code and this differ\n\n" +
            differences_text(document.differences);
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace edelta::reproduce::report
