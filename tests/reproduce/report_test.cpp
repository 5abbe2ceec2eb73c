#include "reproduce/report/report.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/input_file.h"
#include "base/temporary_folder.h"
#include "edelta/base/error.h"
#include "expect_error.h"
#include "reproduce/report/dark_figure.h"
#include "reproduce/report/document.h"
#include "reproduce/report/figure_axis.h"
#include "reproduce/report/figure_style.h"
#include "reproduce/report/glossary.h"
#include "reproduce/report/gnuplot.h"
#include "reproduce/report/html.h"
#include "reproduce/report/markdown.h"
#include "reproduce/report/number_text.h"
#include "reproduce/report/rendered_figure.h"
#include "reproduce/report/typeset.h"
#include "reproduce/results_json.h"

namespace edelta::reproduce::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string read(const fs::path& path) { return base::read_text(path, std::size_t{64} << 20); }

Json fixture() {
  return Json::parse(read(fs::path(__FILE__).parent_path() / "../report/results.json"));
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "lacks: " << part;
}

// A figure of one panel with one line.
Figure small_figure(const std::string& label) {
  return {.id = "small",
          .title = "",
          .caption = "",
          .panels = {{.title = label,
                      .x = {label},
                      .y = {label},
                      .series = {{.label = label, .x = {0, 1, 2}, .y = {1, NAN, 2}}},
                      .reference_lines = {{1.5, label}}}}};
}

TEST(NumberText, HasTheDigitsThatTheSpreadJustifies) {
  EXPECT_EQ(mean_text(3.78, 0.04).whole(), "3.78 ± 0.04");
  EXPECT_EQ(mean_text(0.308, 0.02).whole(), "0.308 ± 0.020");
  EXPECT_EQ(mean_text(11.9, 0.01).whole(), "11.90 ± 0.01");
  EXPECT_EQ(mean_text(8.19, 3.69).whole(), "8.19 ± 3.69");
  EXPECT_EQ(mean_text(8650, 140).whole(), "8650 ± 140");
  EXPECT_EQ(mean_text(1, 1e-9).whole(), "1.0000 ± 0.0000");
  EXPECT_EQ(mean_text(4.351e-6, 2.7e-7).whole(), "(4.35 ± 0.27)×10⁻⁶");
  EXPECT_EQ(mean_text(4.351e-6, 0).whole(), "4.35×10⁻⁶");
  EXPECT_EQ(mean_text(NAN, 1).whole(), "not a number");
}

TEST(NumberText, CountsAndDurations) {
  EXPECT_EQ(value_text(0), "0");
  EXPECT_EQ(value_text(1.0666), "1.07");
  EXPECT_EQ(count_text(1787688), "1,787,688");
  EXPECT_EQ(count_text(-123), "−123");
  EXPECT_EQ(value_text(-0.912), "−0.912");
  EXPECT_EQ(duration_text(3.21), "3.2 s");
  EXPECT_EQ(duration_text(250), "4 min 10 s");
  EXPECT_EQ(duration_text(12345.6), "3 h 25 min");
}

TEST(FigureAxis, CoversTheDataWithReadableTics) {
  const Axis loss = fit_axis({2e-6, 1e-2, NAN, 0, -1}, true, Margin::small);
  EXPECT_LT(loss.low, 2e-6);
  EXPECT_GT(loss.high, 1e-2);
  std::string labels;
  for (const Tic& tic : loss.tics) labels += tic.label + " ";
  expect_contains(labels, "10^{−5}");
  const Axis samples = fit_axis({10, 500}, true, Margin::none);
  labels.clear();
  for (const Tic& tic : samples.tics) labels += tic.label + " ";
  expect_contains(labels, "10 ");
  expect_contains(labels, "200 ");
  for (const bool log : {false, true}) {
    for (const auto& values : {std::vector<double>{}, {3.0}, {3.0, 3.01}, {1e-9, 1e9}}) {
      const Axis axis = fit_axis(values, log, Margin::small);
      EXPECT_LT(axis.low, axis.high);
      EXPECT_GE(axis.tics.size(), 2u);
    }
  }
  EXPECT_EQ(fit_axis({0.2, 0.9}, false, Margin::ground).low, 0);
}

TEST(FigureStyle, TellsSeriesApart) {
  const std::vector<std::string> names{"gpt", "ddl", "mhc", "jpmhc", "edelta", "edelta-stream"};
  std::vector<SeriesStyle> styles;
  for (const std::string& name : names) styles.push_back(architecture_style(name));
  for (int i = 1; i < 4; ++i) styles.push_back(architecture_style("edelta", i));
  for (size_t i = 0; i < styles.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      EXPECT_NE(styles[i].colour, styles[j].colour) << i << " " << j;
      EXPECT_NE(styles[i].dashes + std::to_string(styles[i].mark),
                styles[j].dashes + std::to_string(styles[j].mark))
          << i << " " << j;
    }
  }
  for (int i = 0; i < 24; ++i) {
    for (int j = 0; j < i; ++j)
      EXPECT_FALSE(numbered_style(i) == numbered_style(j)) << i << " " << j;
  }
}

TEST(FigureStyle, OnDarkEverythingStandsOut) {
  EXPECT_EQ(on_dark("#FFFFFF"), "#16181C");
  EXPECT_EQ(on_dark("#000000"), "#E4E6EA");
  EXPECT_EQ(on_dark("#E69F00"), "#E69F00");  // light enough as it is
  EXPECT_NE(on_dark("#0072B2"), "#0072B2");
}

TEST(DarkFigure, HasASecondColourForEach) {
  const std::string svg = with_dark_colours(
      "<svg width='1'><rect fill=\"#ffffff\"/><g stroke = 'rgb( 51,  51,  51)' "
      "fill='none'/></svg>");
  expect_contains(svg, "<svg width='1'>\n<style>@media (prefers-color-scheme: dark){");
  expect_contains(svg, "[fill=\"#ffffff\"]{fill:#16181C}");
  expect_contains(svg, "[stroke=\"rgb( 51,  51,  51)\"]{stroke:");
  EXPECT_EQ(svg.find("[fill=\"none\"]"), std::string::npos);
  test::expect_error<Failure>([] { with_dark_colours("no picture"); }, "no SVG");
}

TEST(Typeset, SetsNumbersAndLeavesWords) {
  EXPECT_EQ(typeset("gpt 6.55e-03 against -0.912 (paper: -0.38, 3e+08)"),
            "gpt 6.55×10⁻³ against −0.912 (paper: −0.38, 3×10⁸)");
  EXPECT_EQ(typeset("×1e-3"), "×10⁻³");
  EXPECT_EQ(typeset("3.3e-01, 1.0e+00, 2e2."), "0.33, 1.0, 200.");
  for (const char* text :
       {"near-2, E5-2680, 0.3–0.7, 1e±12, v1e5x, 2026-01-02", "", "-", "1e", "e-3"}) {
    EXPECT_EQ(typeset(text), text);
  }
}

TEST(Glossary, ExplainsWhatTheTableHas) {
  ReportTable table{.id = "a",
                    .title = "Gyroscope: validation loss and final γ",
                    .unit = {},
                    .note = {},
                    .reason = {},
                    .verdict = {},
                    .columns = {{"rank"}},
                    .rows = {{"Drift", "", false, {{{"1", ""}, ""}}}},
                    .terms = {}};
  const auto words = [&] { return fmt::format("{}", fmt::join(explain(table), " ")); };
  for (const char* term : {"mean squared error", "γ: ", "Rank: "}) expect_contains(words(), term);
  for (const char* term : {"D: ", "±: ", "–: "}) EXPECT_EQ(words().find(term), std::string::npos);
  table.rows = {{"D 184", "", false, {{{"–", ""}, ""}}}, {"x", "", false, {{{"1", "2"}, "n = 2"}}}};
  for (const char* term : {"D: ", "±: ", "–: ", "(n = …): "}) expect_contains(words(), term);
}

TEST(Escaping, KeepsTextText) {
  EXPECT_EQ(html_escaped("<a href=\"x\">'&'"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;");
  EXPECT_EQ(markdown_escaped("a_b | *c* <d>\n`e`"), "a\\_b \\| \\*c\\* &lt;d\\> \\`e\\`");
  EXPECT_EQ(gnuplot_quoted("it's\n`ls` π"), R"("it\047s \140ls\140 π")");
  EXPECT_EQ(gnuplot_quoted("1-23 4"), R"("1\055\062\063 4")");
  EXPECT_EQ(slug("../Near π: <gates>"), "near-gates");
  EXPECT_EQ(slug("π"), "unnamed");
}

TEST(Figure, DrawsAwkwardTextAsItIs) {
  const RenderedFigure figure =
      render_figure(small_figure("it's a {b}_c^2 & <d> \"e\" %s \\n `exit` @f ~g $h"));
  for (const std::string& svg : {figure.wide_svg, figure.narrow_svg}) {
    // The title may be broken into lines; the labels are not.
    expect_contains(svg, "it's a {b}_c^2 &amp; &lt;d> \"e\" %s \\n `exit` @f ~g $h</text>");
  }
  EXPECT_EQ(figure.png.substr(1, 3), "PNG");
}

TEST(Figure, NeverExecutesText) {
  const base::TemporaryFolder folder;
  const std::string made = (folder.path() / "made").string();
  for (const std::string& text :
       {"'; system('touch " + made + "'); '", "`touch " + made + "`",
        "it's `touch " + made + "` \"'", "\"`touch " + made + "`", "\n!touch " + made + "\n",
        "EOD\nsystem 'touch " + made + "'\n"}) {
    render_figure(small_figure(text));
  }
  EXPECT_FALSE(fs::exists(made));
}

TEST(Figure, RejectsWhatCannotBeDrawn) {
  const Json pie{{"id", "small"}, {"panels", {{{"kind", "pie"}, {"series", Json::array()}}}}};
  test::expect_error<InputError>([&] { figure_from_json(pie); }, "pie", "lines, bars and points");
  Figure figure = small_figure("x");
  figure.panels[0].series[0].low = {1};
  test::expect_error<InputError>([&] { render_figure(figure); }, "series x");
  figure.panels.clear();
  test::expect_error<InputError>([&] { render_figure(figure); }, "small", "no panels");
}

TEST(Gnuplot, ReportsItsMessage) {
  const base::TemporaryFolder folder;
  test::expect_error<Failure>([&] { run_gnuplot("plot nonsense(x)\n", folder.path()); },
                              "gnuplot failed", "nonsense");
}

TEST(Document, PutsNumbersIntoTheTablesUnit) {
  const Document document = make_document(results_from_json(fixture()));
  const ReportTable& table = document.sections[0].tables[0];
  EXPECT_EQ(table.unit, "×10⁻³");
  EXPECT_EQ(table.rows[0].cells[0].number.whole(), "3.78 ± 0.04");
  EXPECT_EQ(table.rows[1].cells[2].remark, "n = 2");
  EXPECT_EQ(table.rows[0].cells[3].number.whole(), "1.07");
  EXPECT_EQ(table.rows[2].cells[4].number.whole(), "3");
  EXPECT_EQ(table.rows[5].cells[0].number.whole(), "–");
  EXPECT_EQ(table.rows[5].cells[6].number.whole(), "–");
  EXPECT_TRUE(table.rows[4].sees_future);
  EXPECT_FALSE(table.columns[6].numeric);
  EXPECT_EQ(document.outcome,
            "Of 3 comparisons with the paper 1 holds, 1 holds in order but not in size, 1 does not "
            "hold. Training was not by the paper’s protocol (see What was run): the "
            "verdicts on trained models say whether its order and sizes appear in this smaller "
            "setting.");
  EXPECT_EQ(document.unfinished.size(), 2u);
}

// Everything in the results is on both pages.
TEST(Report, LosesNothing) {
  const Json results = fixture();
  const base::TemporaryFolder folder;
  const auto pages = write_report(results_from_json(results), folder.path());
  ASSERT_EQ(pages.size(), 2u);
  const std::string html = read(pages[0]), markdown = read(pages[1]);
  const auto on_both = [&](const std::string& text) {
    expect_contains(html, html_escaped(text));
    expect_contains(markdown, markdown_escaped(text));
  };
  for (const Json& experiment : results["experiments"]) {
    for (const char* key : {"title", "claim", "method"}) on_both(experiment[key]);
    for (const Json& table : experiment["tables"]) {
      for (const char* key : {"title", "reason"}) on_both(table[key]);
      for (const Json& row : table["rows"]) on_both(row["label"]);
      expect_contains(html, "id=\"table-" + table["id"].get<std::string>() + "\"");
    }
    for (const Json& figure : experiment["figures"]) {
      const std::string id = figure["id"];
      expect_contains(html, "id=\"figure-" + id + "\"");
      expect_contains(markdown, "(figures/" + id + ".svg)");
      for (const char* kind : {".svg", ".png"}) {
        EXPECT_GT(fs::file_size(folder.path() / "figures" / (id + kind)), 1000u) << id << kind;
      }
      on_both(figure["caption"]);
    }
  }
  for (const Json& difference : results["differences"]) on_both(difference["here"]);
  for (const Json& sentence : results["verdict_rule"]) on_both(sentence);
  on_both(results["preset"]);
  on_both(results["machine"]["cpu"]);
}

TEST(Report, RejectsWhatAreNoResults) {
  const base::TemporaryFolder folder;
  const auto expect_rejected = [&](const Json& results, const std::string& reason) {
    test::expect_error<InputError>([&] { write_report(results_from_json(results), folder.path()); },
                                   "these are no results of a reproduction: " + reason);
    EXPECT_TRUE(fs::is_empty(folder.path()));
  };
  expect_rejected(Json::object(), "key 'experiments' not found");
  Json no_columns = fixture();
  no_columns["experiments"][0]["tables"][0].erase("columns");
  expect_rejected(no_columns, "key 'columns' not found");
  Json no_scale = fixture();
  for (Json& experiment : no_scale["experiments"]) {
    for (Json& figure : experiment["figures"]) figure["panels"][0]["y"]["log"] = "yes";
  }
  expect_rejected(no_scale, "type must be boolean");
}

TEST(Report, WithoutGnuplotWritesNothing) {
  const base::TemporaryFolder folder;
  const std::string path = getenv("PATH");
  setenv("PATH", folder.path().c_str(), 1);
  test::expect_error<Failure>(
      [&] { write_report(results_from_json(fixture()), folder.path() / "page"); },
      "gnuplot is missing; install gnuplot-nox");
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace edelta::reproduce::report
