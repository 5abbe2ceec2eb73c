#include "reproduce/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "reproduce/report/figure_style.h"
#include "reproduce/report/page_style.h"

namespace edelta::reproduce::report {
namespace {

std::string escaped(const std::string& text) { return html_escaped(text); }

std::string base64(const std::string& bytes) {
  static constexpr char kAlphabet[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (size_t j = 0; j < 4; ++j) {
      text += j <= count ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

std::string svg_address(const std::string& svg) {
  return "data:image/svg+xml;base64," + base64(svg);
}

struct VerdictLook {
  const char *style, *sign;
};

// The sign says it without the colour.
VerdictLook verdict_look(const std::string& verdict) {
  if (verdict == "holds") return {"holds", "✓"};
  if (verdict == "does not hold") return {"fails", "✗"};
  if (verdict == "not run" || verdict == "partly run" || verdict == "not compared") {
    return {"none", "○"};
  }
  return {"partly", "≈"};
}

std::string verdict_mark(const std::string& verdict) {
  const VerdictLook look = verdict_look(verdict);
  return fmt::format("<span class=\"verdict {}\">{} {}</span>", look.style, look.sign,
                     escaped(verdict));
}

std::string swatch(const std::string& model) {
  if (!is_architecture(model)) return "";
  const std::string colour = architecture_style(model).colour;
  return fmt::format("<span class=\"swatch\" style=\"--light:{};--dark:{}\"></span>", colour,
                     on_dark(colour));
}

// Characters, for widths of columns.
size_t characters(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// Of the longest word; a title may be broken after any.
size_t longest_word(const std::string& text) {
  std::istringstream words(text);
  size_t longest = 0;
  for (std::string word; words >> word;) longest = std::max(longest, characters(word));
  return longest;
}

// " ± 0.04 (n = 2)", or a part of it.
std::string behind_value(const TableCell& cell) {
  std::string text = cell.number.spread.empty() ? "" : " ± " + cell.number.spread;
  return text + (cell.remark.empty() ? "" : " (" + cell.remark + ")");
}

// One element, so that a card can set it beside the title.
std::string value_html(const std::string& content) {
  return fmt::format("<span class=\"value\">{}</span>", content);
}

// What the cells of a column have in common.
struct ColumnLook {
  std::string style;  // class attribute
  size_t width = 0;   // characters that it needs at least
  size_t behind = 0;  // of these behind the widest value: the ± stand below each other
};

constexpr size_t kShort = 28;  // characters of a text that is not broken

std::vector<ColumnLook> column_looks(const ReportTable& table) {
  std::vector<ColumnLook> looks;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    size_t longest = 0, behind = 0;
    for (const TableRow& row : table.rows) {
      longest = std::max(longest, characters(row.cells[i].number.value));
      behind = std::max(behind, characters(behind_value(row.cells[i])));
    }
    const char* style = table.columns[i].numeric ? "number" : (longest > kShort ? "long" : "short");
    looks.push_back(
        {style, std::max(std::min(longest, kShort) + behind, longest_word(table.columns[i].title)),
         behind});
  }
  return looks;
}

// Tables that a narrow window has no room for become cards in it, one a row.
bool is_wide(const ReportTable& table, const std::vector<ColumnLook>& looks) {
  constexpr size_t kGap = 3, kNarrow = 70;
  size_t width = 0;
  for (const TableRow& row : table.rows) width = std::max(width, characters(row.label));
  for (const ColumnLook& look : looks) width += look.width + kGap;
  return width > kNarrow;
}

// A card has no head, so that each cell brings its column's title.
std::string cell_html(const TableCell& cell, const TableColumn& column, const ColumnLook& look) {
  std::string text = escaped(cell.number.value);
  if (look.behind > 0) {
    text += fmt::format("<span class=\"spread\" style=\"min-width:{}ch\">{}</span>", look.behind,
                        escaped(behind_value(cell)));
  }
  return fmt::format("<td class=\"{}\" data-title=\"{}\">{}</td>", look.style,
                     escaped(column.title), value_html(text));
}

std::string table_head(const ReportTable& table, const std::vector<ColumnLook>& looks) {
  std::string text = "<thead><tr><td></td>";
  for (size_t i = 0; i < looks.size(); ++i) {
    text += fmt::format("<th scope=\"col\" class=\"{}\">{}</th>",
                        looks[i].behind > 0 ? "centre" : looks[i].style,
                        escaped(table.columns[i].title));
  }
  return text + "</tr></thead>\n";
}

std::string table_body(const ReportTable& table, const std::vector<ColumnLook>& looks) {
  std::string text = "<tbody>\n";
  for (const TableRow& row : table.rows) {
    text += fmt::format("<tr><th scope=\"row\">{}{}{}</th>", swatch(row.model), escaped(row.label),
                        row.sees_future ? fmt::format(" <a href=\"#future-{}\" aria-label=\"sees "
                                                      "the future, see the note\">†</a>",
                                                      table.id)
                                        : "");
    for (size_t i = 0; i < looks.size(); ++i) {
      text += cell_html(row.cells[i], table.columns[i], looks[i]);
    }
    text += "</tr>\n";
  }
  return text + "</tbody>\n";
}

// A box that scrolls sideways by itself, with the keyboard too, should a table not fit after all.
std::string scrolling(const std::string& label, const std::string& content) {
  return fmt::format(
      "<div class=\"scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">\n{}</div>\n",
      escaped(label), content);
}

std::string table_html(const ReportTable& table) {
  std::string caption = escaped(table.title);
  if (!table.unit.empty()) {
    caption += fmt::format(" <span class=\"soft\">{}</span>", escaped(table.unit));
  }
  std::string text = fmt::format("<div id=\"table-{}\">\n", table.id);
  if (table.rows.empty()) {
    text += fmt::format("<p><b>{}</b></p>\n", caption);
  } else {
    const std::vector<ColumnLook> looks = column_looks(table);
    text += scrolling(table.title,
                      fmt::format("<table class=\"{}\">\n<caption>{}</caption>\n{}{}</table>\n",
                                  is_wide(table, looks) ? "wide" : "narrow", caption,
                                  table_head(table, looks), table_body(table, looks)));
  }
  if (table.sees_future()) {
    text += fmt::format("<p class=\"note\" id=\"future-{}\">† {}</p>\n", table.id, kSeesFuture);
  }
  if (!table.note.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", escaped(table.note));
  if (!table.terms.empty()) {
    text += fmt::format("<p class=\"note\">{}</p>\n",
                        escaped(fmt::format("{}", fmt::join(table.terms, " "))));
  }
  if (table.verdict) {
    text += fmt::format("<p class=\"ruling {}\">{} <span class=\"why\">{}</span></p>\n",
                        verdict_look(*table.verdict).style, verdict_mark(*table.verdict),
                        escaped(table.reason));
  }
  return text + "</div>\n";
}

std::string figure_html(const ReportFigure& figure, const RenderedFigure& picture) {
  return fmt::format(
      "<figure id=\"figure-{}\">\n<picture><source media=\"screen and (max-width: 56rem)\" "
      "srcset=\"{}\"><img src=\"{}\" alt=\"{}\"></picture>\n<figcaption><b>{}</b> "
      "{}</figcaption>\n</figure>\n",
      figure.id, svg_address(picture.narrow_svg), svg_address(picture.wide_svg),
      escaped(figure.description), escaped(figure.sentence()), escaped(figure.caption));
}

std::string list_html(const std::vector<std::string>& items) {
  std::string text = "<ul>";
  for (const std::string& item : items) text += fmt::format("<li>{}</li>", escaped(item));
  return text + "</ul>\n";
}

std::string facts_html(const std::vector<Fact>& facts) {
  std::string text = "<dl>\n";
  for (const Fact& fact : facts) {
    text += fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(fact.name),
                        fact.values.size() == 1 ? escaped(fact.values[0]) : list_html(fact.values));
  }
  return text + "</dl>\n";
}

std::string section_html(const ReportSection& section,
                         const std::map<std::string, RenderedFigure>& figures) {
  std::string text = fmt::format(
      "<section id=\"experiment-{}\">\n<h2>{}{}</h2>\n", section.id, escaped(section.title),
      section.ours ? " <span class=\"origin\">not in the paper</span>" : "");
  std::vector<Fact> facts;
  if (!section.claim.empty()) facts.push_back({"The paper", {section.claim}});
  if (!section.method.empty()) facts.push_back({"Here", {section.method}});
  facts.push_back({"Progress", {section.progress}});
  text += facts_html(facts);
  for (const ReportTable& table : section.tables) text += table_html(table);
  for (const ReportFigure& figure : section.figures) {
    text += figure_html(figure, figures.at(figure.id));
  }
  for (const TextSample& sample : section.samples) {
    text +=
        fmt::format("<figure class=\"sample\"><pre>{}</pre><figcaption>{}</figcaption></figure>\n",
                    escaped(sample.text), escaped(sample.label));
  }
  return text + "</section>\n";
}

// A row of texts, with their titles for where it is a card.
std::string prose_row(const std::string& head, const std::vector<std::string>& titles,
                      const std::vector<std::string>& cells) {
  std::string text = "<tr>" + head;
  for (size_t i = 0; i < cells.size(); ++i) {
    text += fmt::format("<td data-title=\"{}\">{}</td>", titles[i + 1], value_html(cells[i]));
  }
  return text + "</tr>\n";
}

std::string prose_head(const std::vector<std::string>& titles) {
  std::string text = "<thead><tr>";
  for (const std::string& title : titles) {
    text += fmt::format("<th scope=\"col\">{}</th>", title);
  }
  return text + "</tr></thead>\n";
}

const std::vector<std::string> kSummaryTitles{"Experiment", "Comparison", "Verdict", "Why"};

std::string section_link(const ReportSection& section) {
  return fmt::format("<a href=\"#experiment-{}\">{}</a>", section.id, escaped(section.title));
}

// A row for each comparison. The table shows the experiment's name in the first one alone; cards
// show it in each.
std::string summary_rows(const ReportSection& section) {
  std::string text;
  for (const ReportTable& table : section.tables) {
    if (!table.is_run()) continue;
    text += prose_row(
        fmt::format("<th scope=\"row\"{}>{}</th>", text.empty() ? "" : " class=\"again\"",
                    section_link(section)),
        kSummaryTitles,
        {fmt::format("<a href=\"#table-{}\">{}</a>", table.id, escaped(table.title)),
         table.verdict ? verdict_mark(*table.verdict)
                       : fmt::format("<span class=\"none\">{}</span>", kNothing),
         table.verdict ? escaped(table.reason)
                       : fmt::format("<span class=\"none\">{}</span>", kNothingToCompare)});
  }
  return text;
}

// Links to the experiments of which nothing is run.
std::string not_begun_html(const std::vector<ReportSection>& sections) {
  std::vector<std::string> links;
  for (const ReportSection& section : sections) {
    if (!section.begun) links.push_back(section_link(section));
  }
  if (links.empty()) return "";
  return fmt::format("<p>{}: {}.</p>\n", kNotBegun, fmt::join(links, ", "));
}

std::string summary_html(const Document& document) {
  std::string table = "<table class=\"prose wide\">\n<caption>Verdicts</caption>\n" +
                      prose_head(kSummaryTitles) + "<tbody>\n";
  for (const ReportSection& section : document.sections) {
    if (section.begun) table += summary_rows(section);
  }
  table += "</tbody>\n</table>\n";
  return fmt::format(
      "<section id=\"summary\">\n<h2>Summary</h2>\n<p>{} <a href=\"#rule\">How the verdicts are "
      "found.</a></p>\n<nav aria-label=\"Experiments\">\n{}{}</nav>\n</section>\n",
      escaped(document.outcome), scrolling("Verdicts", table), not_begun_html(document.sections));
}

std::string run_html(const Document& document) {
  std::string text = "<section id=\"run\">\n<h2>What was run</h2>\n" + facts_html(document.facts);
  if (!document.unfinished.empty()) {
    text += "<p id=\"unfinished\">Not all is done of:</p>\n" + list_html(document.unfinished);
  }
  text += "</section>\n<section id=\"rule\">\n<h2>How the verdicts are found</h2>\n" +
          list_html(document.verdict_rule);
  return text + "</section>\n";
}

std::string differences_html(const std::vector<ProtocolDifference>& differences) {
  if (differences.empty()) return "";
  const std::vector<std::string> titles{"Matter", "Paper", "Published code", "Here"};
  std::string table = "<table class=\"prose wide\">\n<caption>Differences</caption>\n" +
                      prose_head(titles) + "<tbody>\n";
  for (const ProtocolDifference& each : differences) {
    table += prose_row(fmt::format("<th scope=\"row\">{}</th>", escaped(each.matter)), titles,
                       {escaped(each.paper), escaped(each.published_code), escaped(each.here)});
  }
  table += "</tbody>\n</table>\n";
  return "<section id=\"differences\">\n<h2>Where paper, published code and this differ</h2>\n" +
         scrolling("Differences", table) +
         fmt::format("<p class=\"note\">{}</p>\n</section>\n", kSaysNothing);
}

}  // namespace

std::string html_escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string html_table(const ReportTable& table) { return table_html(table); }

std::string html_figure(const ReportFigure& figure, const RenderedFigure& picture) {
  return figure_html(figure, picture);
}

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta "
      "name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<link "
      "rel=\"icon\" href=\"data:,\">\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      escaped(title), kPageStyle, body);
}

std::string to_html(const Document& document,
                    const std::map<std::string, RenderedFigure>& figures) {
  std::string body = fmt::format(
      "<header>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n<p class=\"soft\">{}, <a "
      "href=\"{}\">{}</a>.</p>\n</header>\n<main>\n",
      kReportTitle, kReportPurpose, kPaper, kPaperAddress, kPaperNumber);
  body += summary_html(document) + run_html(document);
  for (const ReportSection& section : document.sections) body += section_html(section, figures);
  body += differences_html(document.differences);
  body +=
      "</main>\n<footer><p>Every number that is not the paper’s was computed by this "
      "program.</p></footer>\n";
  return html_page(kReportTitle, body);
}

}  // namespace edelta::reproduce::report
