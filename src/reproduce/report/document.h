// The report's content with all numbers put into words: what HTML and Markdown have in common. Text
// here is plain; each of the two escapes it in its own way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reproduce/report/facts.h"
#include "reproduce/report/number_text.h"
#include "reproduce/results.h"

namespace edelta::reproduce::report {

// Of a cell where there is nothing to show.
inline constexpr const char* kNothing = "–";

struct TableCell {
  NumberText number;   // or a text, as its value
  std::string remark;  // "n = 2" where seeds are missing
};

struct TableColumn {
  std::string title;
  bool numeric = true;
};

struct TableRow {
  std::string label, model;
  bool sees_future = false;
  std::vector<TableCell> cells;  // one a column
};

struct ReportTable {
  std::string id, title, unit, note, reason;
  std::optional<std::string> verdict;  // absent: nothing to compare with
  std::vector<TableColumn> columns;
  std::vector<TableRow> rows;
  std::vector<std::string> terms = {};  // its signs and abbreviations, a sentence each

  bool sees_future() const;
  bool is_run() const;  // some of it, at least
};

struct ReportFigure {
  std::string id, title, caption;
  std::string description;  // for those who do not see it

  // The title as a sentence: a question has its mark already.
  std::string sentence() const { return title.ends_with('?') ? title : title + "."; }
};

struct ReportSection {
  std::string id, title, claim, method, progress;
  bool ours = false;
  bool begun = true;  // some of its runs are done
  std::vector<ReportTable> tables;
  std::vector<ReportFigure> figures;
  std::vector<TextSample> samples;
};

struct Document {
  std::vector<Fact> facts;  // what was run, on what, how
  std::string outcome;      // the verdicts counted
  std::vector<std::string> verdict_rule;
  std::vector<ReportSection> sections;  // those of which nothing is run come last
  std::vector<ProtocolDifference> differences;
  std::vector<std::string> unfinished;
};

inline constexpr const char* kReportTitle = "Reproducing the EΔ-MHC-Geo Transformer";
inline constexpr const char* kReportPurpose =
    "What the paper claims, what was measured here, and whether it holds.";
inline constexpr const char* kPaper =
    "A. Shahmansoori, “The EΔ-MHC-Geo Transformer: Adaptive Geodesic Operations with Guaranteed "
    "Orthogonality”, 2026";
inline constexpr const char* kPaperNumber = "arXiv:2605.06729";
inline constexpr const char* kPaperAddress = "https://arxiv.org/abs/2605.06729";
// Beside tables without a verdict.
inline constexpr const char* kNothingToCompare = "Nothing in the paper to compare it with.";
// Below the table of differences.
inline constexpr const char* kSaysNothing = "—: says nothing about it.";
inline constexpr const char* kNotBegun = "Not part of this run, or not yet";
inline constexpr const char* kSeesFuture =
    "Its operator pools the whole sequence, so that every position sees those after it, its "
    "targets "
    "included. The loss is not that of a causal predictor and can fall below the noise floor.";

Document make_document(const Results& results);

// With a description of its panels.
ReportFigure make_figure(const Figure& figure);

// Lower-case letters, digits and hyphens: fit for anchors and file names.
std::string slug(const std::string& text);

}  // namespace edelta::reproduce::report
