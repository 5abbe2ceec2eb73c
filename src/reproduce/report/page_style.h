// The style sheet of report.html.
#pragma once

#include <cstddef>
#include <string>

namespace edelta::reproduce::report {

// In windows up to `width`, the tables of this class are cards instead: one a row of the table,
// with each cell below the one before it, behind the title of its column.
inline std::string card_style(const std::string& width, const std::string& table) {
  std::string rules = R"css(
@, @ caption, @ tbody th { display: block; border: 0; }
@ thead { display: none; }
@ tbody { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: .75rem; }
@ tbody tr { display: block; border: 1px solid var(--rule); border-radius: 6px; padding: .55rem .8rem; }
@ tbody tr > * { border: 0; padding: .12rem 0; min-width: 0; white-space: normal; text-align: left; }
@ tbody th { font-weight: 600; padding-bottom: .25rem; }
@ .again > * { visibility: visible; }
@ td { display: flex; justify-content: space-between; gap: 1rem; }
@ td::before { content: attr(data-title); color: var(--soft); }
@ .value { text-align: right; }
@ .long, @.prose td { display: block; }
@ .long::before, @.prose td::before { display: block; font-size: .85rem; }
@ .long .value, @.prose .value { text-align: left; }
@ .spread { min-width: 0 !important; }
)css";
  for (size_t at = 0; (at = rules.find('@', at)) != std::string::npos; at += table.size()) {
    rules.replace(at, 1, table);
  }
  return "@media screen and (max-width: " + width + ") {" + rules + "}\n";
}

// Quiet, for reading: dark on light or light on dark as the reader prefers, figures too. Nothing
// scrolls sideways: tables that a window has no room for are cards.
inline const std::string kPageStyle = R"css(
:root {
  color-scheme: light dark;
  --ink: #1c1e22; --soft: #565c66; --rule: #d4d7dd; --ground: #ffffff; --tint: #f5f6f8;
  --link: #0a58a6; --holds: #17653a; --partly: #7a5000; --fails: #a1222a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e6ea; --soft: #a8afba; --rule: #3b404a; --ground: #16181c; --tint: #1f2228;
    --link: #82b7f2; --holds: #74d19b; --partly: #efb961; --fails: #ff9494;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--ground); color: var(--ink); overflow-wrap: break-word;
  font: 1rem/1.55 "Segoe UI", "Helvetica Neue", "Liberation Sans", Arial, system-ui, sans-serif;
}
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.5rem; }
footer { padding-top: 1rem; padding-bottom: 3rem; color: var(--soft); font-size: .875rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .75rem; }
section { margin-top: 2.5rem; padding-top: 1.75rem; border-top: 1px solid var(--rule); }
p, ul, dl { max-width: 46rem; margin: 0 0 .9rem; }
ul { padding-left: 1.25rem; }
a { color: var(--link); text-underline-offset: .15em; }
.lead { font-size: 1.1rem; margin-bottom: .35rem; }
.soft { color: var(--soft); }
.origin { font-size: .8rem; color: var(--soft); border: 1px solid var(--rule); border-radius: 1rem;
  padding: .1rem .6rem; margin-left: .5rem; font-weight: normal; white-space: nowrap; vertical-align: .15em; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1.25rem; }
dt { color: var(--soft); }
dd { margin: 0; }
dd ul { margin: 0; }
.scroll { overflow-x: auto; margin: 1.5rem 0 .6rem; }
table { border-collapse: collapse; border-bottom: 2px solid var(--ink); font-size: .925rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .5rem; }
caption .soft { font-weight: normal; }
th, td { padding: .34rem .65rem; text-align: left; vertical-align: baseline; }
th:first-child, thead td:first-child { padding-left: 0; }
thead th { font-weight: 600; vertical-align: bottom; }
thead > tr > * { border-top: 2px solid var(--ink); border-bottom: 1px solid var(--ink); }
tbody th { font-weight: normal; white-space: nowrap; }
tbody tr + tr > * { border-top: 1px solid var(--rule); }
.number { text-align: right; white-space: nowrap; }
.spread { display: inline-block; text-align: left; white-space: pre; color: var(--soft); }
.centre { text-align: center; }
.short { white-space: nowrap; }
thead .number, thead .short { white-space: normal; }
.long { min-width: 14rem; }
.prose th, .prose td { min-width: 8rem; white-space: normal; vertical-align: top; }
.again > * { visibility: hidden; }
.swatch { display: inline-block; width: .7em; height: .7em; margin-right: .5em; border-radius: 2px;
  box-shadow: 0 0 0 1px var(--rule); background: var(--light); }
@media screen and (prefers-color-scheme: dark) { .swatch { background: var(--dark); } }
.note { font-size: .9rem; color: var(--soft); margin-bottom: .5rem; }
.verdict { font-weight: 600; white-space: nowrap; }
.holds { color: var(--holds); } .partly { color: var(--partly); } .fails { color: var(--fails); }
.none { color: var(--soft); font-weight: normal; }
.ruling { border-left: 3px solid currentColor; padding: .1rem 0 .1rem .8rem; margin-bottom: 1.5rem; }
.ruling .why { display: block; color: var(--ink); }
figure { margin: 1.75rem 0; }
figure img { display: block; max-width: 100%; height: auto; }
figcaption { max-width: 46rem; margin-top: .6rem; font-size: .925rem; }
figcaption b { font-weight: 600; }
.sample { margin: 1rem 0; }
.sample pre { max-width: 46rem; margin: 0; padding: .6rem .8rem; border-left: 3px solid var(--rule);
  font-size: .85rem; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  header, main, footer { padding-left: 1rem; padding-right: 1rem; }
  h1 { font-size: 1.5rem; }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dd { margin-bottom: .6rem; }
  .verdict { white-space: normal; }
}
)css" + card_style("68rem", "table.wide") +
                                      card_style("44rem", "table.narrow") + R"css(
@media print {
  :root { --ink: #000; --soft: #444; --rule: #bbb; --ground: #fff; --link: #000; }
  body { font-size: 10pt; }
  figure, tr, .ruling { break-inside: avoid; }
  h2, caption { break-after: avoid; }
  .scroll { overflow: visible; }
}
)css";

}  // namespace edelta::reproduce::report
