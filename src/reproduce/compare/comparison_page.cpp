#include "reproduce/compare/comparison_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reproduce/report/document.h"
#include "reproduce/report/html.h"
#include "reproduce/report/number_text.h"
#include "reproduce/report/rendered_figure.h"

namespace edelta::reproduce {
namespace {

using report::html_escaped;
using report::ReportTable;
using report::TableCell;
using report::TableRow;

TableCell cell(const std::string& text) { return {{text, ""}, ""}; }

template <class Format>
TableCell cell(const std::optional<double>& value, Format format) {
  return cell(value ? format(*value) : "–");
}

// The colour of a row is that of its curve, which only the first run of an architecture has.
TableRow run_row(const ComparedRun& run, bool coloured, bool text, bool puzzles) {
  const RunOverview& overview = run.overview;
  TableRow row{
      run.name,
      coloured ? overview.config.model_name() : "",
      run.sees_future,
      {cell(overview.config.full_model_name()), cell(overview.data()),
       cell(report::count_text(run.parameters)), cell(overview.iterations_text()),
       cell(overview.best_loss, report::value_text), cell(overview.final_loss, report::value_text),
       cell(overview.seconds, report::duration_text), cell(overview.state_text())}};
  const auto percent = [](double share) { return fmt::format("{:.1f} %", 100 * share); };
  const auto bits = [](double value) { return fmt::format("{:.4f}", value); };
  if (text) row.cells.push_back(cell(overview.bits_per_byte, bits));
  if (puzzles) row.cells.push_back(cell(overview.solved, percent));
  return row;
}

ReportTable table_of(const std::string& id, const std::string& title) {
  return {.id = id,
          .title = title,
          .unit = {},
          .note = {},
          .reason = {},
          .verdict = {},
          .columns = {},
          .rows = {}};
}

ReportTable runs_table(const Comparison& comparison) {
  ReportTable table = table_of("runs", "Runs");
  table.unit = "best and final validation loss";
  table.columns = {{"model", false}, {"data", false}, {"parameters"}, {"iterations"},
                   {"best"},         {"final"},       {"time"},       {"state", false}};
  const auto any = [&](std::optional<double> RunOverview::* measure) {
    return std::any_of(comparison.runs.begin(), comparison.runs.end(),
                       [&](const ComparedRun& run) { return (run.overview.*measure).has_value(); });
  };
  const bool text = any(&RunOverview::bits_per_byte), puzzles = any(&RunOverview::solved);
  if (text) table.columns.push_back({"bits/byte (last)"});
  if (puzzles) table.columns.push_back({"solved (last)"});
  std::set<std::string> models;
  for (const ComparedRun& run : comparison.runs) {
    const bool first = models.insert(run.overview.config.model_name()).second;
    table.rows.push_back(run_row(run, first, text, puzzles));
  }
  return table;
}

ReportTable settings_table(const Comparison& comparison) {
  ReportTable table = table_of("settings", "Settings in which they differ");
  for (const ComparedRun& run : comparison.runs) table.columns.push_back({run.name, false});
  for (const DifferingSetting& setting : comparison.settings) {
    TableRow& row = table.rows.emplace_back();
    row.label = setting.key;
    for (const std::string& value : setting.values) row.cells.push_back(cell(value));
  }
  return table;
}

std::string figures_html(const std::vector<Figure>& figures) {
  std::string text;
  for (const Figure& figure : figures) {
    text += report::html_figure(report::make_figure(figure), report::render_figure(figure));
  }
  return text;
}

// Puts the newer page's content in the place of the old once its pictures are there to be shown,
// so that nothing flickers; boxes that were scrolled stay so. A hidden page does not ask.
constexpr const char* kRefreshScript = R"js(
'use strict';
(() => {
  const status = document.getElementById('status');
  const content = (root) => root.querySelector('main');
  const boxes = () => [...document.querySelectorAll('.scroll')];
  let shown = content(document).outerHTML;
  const refresh = async () => {
    const answer = await fetch('/', {cache: 'no-store'});
    const text = await answer.text();
    if (!answer.ok) throw new Error(text.trim());
    const next = content(new DOMParser().parseFromString(text, 'text/html'));
    status.textContent = '';
    if (next.outerHTML === shown) return;
    shown = next.outerHTML;
    const fresh = document.importNode(next, true);
    await Promise.all([...fresh.querySelectorAll('img')].map((image) => image.decode().catch(() => {})));
    const scrolled = boxes().map((box) => box.scrollLeft);
    content(document).replaceWith(fresh);
    boxes().forEach((box, i) => { box.scrollLeft = scrolled[i] || 0; });
  };
  const loop = async () => {
    if (!document.hidden) {
      await refresh().catch((error) => {
        status.textContent = error instanceof TypeError
            ? 'edelta watch no longer answers; this is what it showed last.' : error.message;
      });
    }
    setTimeout(loop, every);
  };
  setTimeout(loop, every);
})();
)js";

std::string refresh_html(const ComparisonPage& page) {
  if (!page.refresh_seconds) return "";
  return fmt::format(
      "<footer><p>Renewed every {:g} s while the runs go on. <span id=\"status\" "
      "role=\"status\"></span></p></footer>\n<script>const every = {};{}</script>\n",
      *page.refresh_seconds, *page.refresh_seconds * 1000, kRefreshScript);
}

}  // namespace

std::string to_html(const Comparison& comparison, const ComparisonPage& page) {
  std::string body =
      fmt::format("<header>\n<h1>{}</h1>\n</header>\n<main>\n", html_escaped(page.title));
  for (const std::string& note : comparison.notes) {
    body += fmt::format("<p class=\"lead\" role=\"note\">{}</p>\n", html_escaped(note));
  }
  body += report::html_table(runs_table(comparison));
  if (!comparison.settings.empty()) body += report::html_table(settings_table(comparison));
  body += figures_html(figures_of(comparison)) + "</main>\n" + refresh_html(page);
  return report::html_page(page.title, body);
}

}  // namespace edelta::reproduce
