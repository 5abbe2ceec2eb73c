#include "reproduce/report/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "reproduce/report/facts.h"
#include "reproduce/report/glossary.h"
#include "reproduce/report/typeset.h"

namespace edelta::reproduce::report {
namespace {

std::string sentence(std::string text) {
  if (text.empty()) return text;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  const bool ends = text.ends_with('.') || text.ends_with('!') || text.ends_with('?');
  return ends ? text : text + ".";
}

// The number of a cell that is one, or nothing.
std::optional<double> number_in(const Cell& cell) {
  if (const double* number = std::get_if<double>(&cell)) return *number;
  if (const Rank* rank = std::get_if<Rank>(&cell)) return static_cast<double>(rank->value);
  return std::nullopt;
}

// How the cells of a column are to be shown.
struct CellFormat {
  double scale = 1;
  bool whole = false;  // counts and ranks
  size_t seeds = 0;

  TableCell operator()(Absent) const { return {{kNothing, ""}, ""}; }
  TableCell operator()(const std::string& text) const { return {{typeset(text), ""}, ""}; }
  TableCell operator()(double number) const {
    if (whole) return {{count_text(std::llround(number)), ""}, ""};
    return {{value_text(number / scale), ""}, ""};
  }
  TableCell operator()(const Rank& rank) const { return (*this)(static_cast<double>(rank.value)); }
  TableCell operator()(const PaperValue& paper) const {
    return {mean_text(paper.mean / scale, paper.std.value_or(0) / scale), ""};
  }
  TableCell operator()(const Mean& ours) const {
    return {mean_text(ours.mean / scale, ours.std.value_or(0) / scale),
            ours.n < seeds ? fmt::format("n = {}", ours.n) : ""};
  }
};

// Only whole numbers of one kind (ranks, counts), and at least one.
bool holds_whole_numbers(const std::vector<Row>& rows, const std::string& key) {
  bool any = false;
  for (const Row& row : rows) {
    const Cell& cell = row.cell(key);
    if (std::holds_alternative<Absent>(cell)) continue;
    const std::optional<double> number = number_in(cell);
    if (!number || *number != std::floor(*number)) return false;
    any = true;
  }
  return any;
}

bool holds_text(const std::vector<Row>& rows, const std::string& key) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) {
    return std::holds_alternative<std::string>(row.cell(key));
  });
}

ReportTable make_table(const Table& data, size_t seeds) {
  ReportTable table{.id = slug(data.id),
                    .title = data.title,
                    .unit = typeset(data.unit),
                    .note = typeset(data.note),
                    .reason = {},
                    .verdict = {},
                    .columns = {},
                    .rows = {},
                    .terms = {}};
  if (data.verdict) {
    table.verdict = data.verdict->text;
    table.reason = sentence(typeset(data.verdict->reason));
  }
  std::vector<CellFormat> formats;
  for (const Column& column : data.columns) {
    formats.push_back({.scale = column.plain ? 1 : data.scale,
                       .whole = column.plain && holds_whole_numbers(data.rows, column.key),
                       .seeds = seeds});
    table.columns.push_back({column.title, !holds_text(data.rows, column.key)});
  }
  for (const Row& row : data.rows) {
    TableRow out{row.label, row.model, row.sees_future.value_or(false), {}};
    for (size_t i = 0; i < formats.size(); ++i) {
      out.cells.push_back(std::visit(formats[i], row.cell(data.columns[i].key)));
    }
    table.rows.push_back(std::move(out));
  }
  table.terms = explain(table);
  return table;
}

std::string describe_panel(const Panel& panel) {
  std::vector<std::string> labels;
  for (const Series& series : panel.series) {
    if (!series.label.empty()) labels.push_back(series.label);
  }
  std::string text = panel.title;
  if (!panel.y.label.empty()) text += (text.empty() ? "" : ": ") + panel.y.label;
  if (!panel.x.label.empty()) text += " against " + panel.x.label;
  if (!panel.categories.empty()) {
    text += fmt::format(" of {}", fmt::join(panel.categories, ", "));
  }
  if (!labels.empty()) text += fmt::format(" ({})", fmt::join(labels, ", "));
  return text + ".";
}

std::string progress_text(const Progress& runs) {
  std::string text =
      fmt::format("{} of {} {} done", runs.done, runs.total, runs.total == 1 ? "run" : "runs");
  if (runs.failed > 0) text += fmt::format(", {} failed", runs.failed);
  if (runs.done > 0 && runs.seconds > 0) {
    text += fmt::format("; {} of training", duration_text(runs.seconds));
  }
  return text;
}

ReportSection make_section(const ExperimentResult& experiment, size_t seeds) {
  ReportSection section{.id = slug(experiment.name),
                        .title = experiment.title,
                        .claim = experiment.claim,
                        .method = experiment.method,
                        .progress = progress_text(experiment.runs),
                        .ours = experiment.ours,
                        .begun = experiment.runs.done > 0,
                        .tables = {},
                        .figures = {},
                        .samples = experiment.samples};
  for (const Table& table : experiment.tables) section.tables.push_back(make_table(table, seeds));
  for (const Figure& figure : experiment.figures) section.figures.push_back(make_figure(figure));
  return section;
}

// "Of 4 comparisons with the paper 1 holds, 2 hold in order but not in size, 1 is not compared."
// What has not been run is none of them.
std::string count_verdicts(const std::vector<ReportSection>& sections) {
  std::map<std::string, int> counts;
  int total = 0;
  for (const ReportSection& section : sections) {
    for (const ReportTable& table : section.tables) {
      if (!table.verdict || !table.is_run()) continue;
      ++counts[*table.verdict];
      ++total;
    }
  }
  if (total == 0) return "There is nothing here to compare with the paper.";
  const struct {
    const char *verdict, *one, *many;
  } kWordings[] = {{"holds", "holds", "hold"},
                   {"holds in order but not in size", "holds in order but not in size",
                    "hold in order but not in size"},
                   {"does not hold", "does not hold", "do not hold"},
                   {"partly run", "is partly run", "are partly run"},
                   {"not compared", "is not compared", "are not compared"}};
  std::vector<std::string> parts;
  for (const auto& wording : kWordings) {
    const int count = counts[wording.verdict];
    if (count > 0)
      parts.push_back(fmt::format("{} {}", count, count == 1 ? wording.one : wording.many));
  }
  return fmt::format("Of {} {} with the paper {}.", total,
                     total == 1 ? "comparison" : "comparisons", fmt::join(parts, ", "));
}

// What it means for the verdicts that training was not by the paper's protocol.
std::string protocol_text(const std::vector<ReportSection>& sections) {
  const bool compared = std::none_of(sections.begin(), sections.end(), [](const auto& section) {
    return std::any_of(section.tables.begin(), section.tables.end(),
                       [](const ReportTable& table) { return table.verdict == "not compared"; });
  });
  return compared
             ? " Training was not by the paper’s protocol (see What was run): the verdicts on "
               "trained models say whether its order and sizes appear in this smaller setting."
             : " Models were trained at a fraction of the paper’s size (see What was run): their "
               "losses get no verdict.";
}

std::vector<std::string> list_unfinished(const std::vector<ExperimentResult>& experiments) {
  std::vector<std::string> list;
  for (const ExperimentResult& experiment : experiments) {
    if (experiment.runs.done >= experiment.runs.total) continue;
    list.push_back(experiment.title + ": " + progress_text(experiment.runs));
  }
  return list;
}

}  // namespace

bool ReportTable::is_run() const { return verdict != "not run"; }

bool ReportTable::sees_future() const {
  return std::any_of(rows.begin(), rows.end(), [](const TableRow& row) { return row.sees_future; });
}

ReportFigure make_figure(const Figure& data) {
  ReportFigure figure{slug(data.id), data.title, data.caption, ""};
  figure.description = figure.sentence();
  for (const Panel& panel : data.panels) figure.description += " " + describe_panel(panel);
  return figure;
}

Document make_document(const Results& results) {
  Document document;
  document.facts = make_facts(results);
  document.verdict_rule = results.verdict_rule;
  for (const ExperimentResult& experiment : results.experiments) {
    document.sections.push_back(make_section(experiment, results.seeds.size()));
  }
  std::stable_partition(document.sections.begin(), document.sections.end(),
                        [](const ReportSection& section) { return section.begun; });
  document.outcome = count_verdicts(document.sections);
  if (results.protocol && !results.protocol->changes.empty()) {
    document.outcome += protocol_text(document.sections);
  }
  document.differences = results.differences;
  document.unfinished = list_unfinished(results.experiments);
  return document;
}

std::string slug(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) && byte < 0x80) {
      result += static_cast<char>(std::tolower(byte));
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result.empty() ? "unnamed" : result;
}

}  // namespace edelta::reproduce::report
