#include "experiments/report/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

namespace edelta::experiments::report {
namespace {

using Json = nlohmann::ordered_json;

// Absent and null are the same.
std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? "" : found->get<std::string>();
}

std::string sentence(const std::string& text) {
  const bool ends =
      text.empty() || text.ends_with('.') || text.ends_with('!') || text.ends_with('?');
  return ends ? text : text + ".";
}

// ×1e-3 → ×10⁻³
std::string pretty_unit(const std::string& unit) {
  const size_t at = unit.find("1e");
  if (at == std::string::npos) return unit;
  size_t end = at + 2;
  if (end < unit.size() && unit[end] == '-') ++end;
  while (end < unit.size() && std::isdigit(static_cast<unsigned char>(unit[end]))) ++end;
  if (end == at + 2) return unit;
  return unit.substr(0, at) + power_of_ten(std::stoi(unit.substr(at + 2, end - at - 2))) +
         unit.substr(end);
}

const Json* find_cell(const Json& row, const std::string& key) {
  const Json& cells = row.at("cells");
  const auto found = cells.find(key);
  return found == cells.end() || found->is_null() ? nullptr : &*found;
}

// How the numbers of a column are to be shown.
struct ColumnFormat {
  std::string key;
  double scale = 1;
  bool whole = false;  // counts and ranks
  size_t seeds = 0;
};

TableCell format_cell(const Json* cell, const ColumnFormat& format) {
  if (cell == nullptr) return {{"–", ""}, ""};
  if (cell->contains("text")) return {{text_of(*cell, "text"), ""}, ""};
  if (cell->contains("value")) {
    const Json& value = cell->at("value");
    if (!value.is_number()) return {{"–", ""}, ""};
    if (format.whole) return {{count_text(std::llround(value.get<double>())), ""}, ""};
    return {{value_text(value.get<double>() / format.scale), ""}, ""};
  }
  if (!cell->contains("mean") || !cell->at("mean").is_number()) return {{"–", ""}, ""};
  const Json std = cell->value("std", Json(0.0));
  TableCell text{mean_text(cell->at("mean").get<double>() / format.scale,
                           std.is_number() ? std.get<double>() / format.scale : 0),
                 ""};
  const size_t n = cell->value("n", format.seeds);
  if (n < format.seeds) text.remark = fmt::format("n = {}", n);
  return text;
}

// Only whole numbers of one kind (ranks, counts), and at least one.
bool holds_whole_numbers(const Json& rows, const std::string& key) {
  bool any = false;
  for (const Json& row : rows) {
    const Json* cell = find_cell(row, key);
    if (cell == nullptr) continue;
    if (!cell->contains("value") || !cell->at("value").is_number()) return false;
    const double value = cell->at("value").get<double>();
    if (value != std::floor(value)) return false;
    any = true;
  }
  return any;
}

bool holds_text(const Json& rows, const std::string& key) {
  return std::any_of(rows.begin(), rows.end(), [&](const Json& row) {
    const Json* cell = find_cell(row, key);
    return cell != nullptr && cell->contains("text");
  });
}

ReportTable make_table(const Json& json, size_t seeds) {
  ReportTable table{.id = slug(json.at("id").get<std::string>()),
                    .title = text_of(json, "title"),
                    .unit = pretty_unit(text_of(json, "unit")),
                    .note = text_of(json, "note"),
                    .reason = sentence(text_of(json, "reason")),
                    .verdict = {},
                    .columns = {},
                    .rows = {}};
  if (!text_of(json, "verdict").empty()) table.verdict = text_of(json, "verdict");
  const double scale = json.value("scale", 1.0);
  const Json& rows = json.at("rows");
  std::vector<ColumnFormat> formats;
  for (const Json& column : json.at("columns")) {
    const bool plain = column.value("plain", false);
    const std::string key = column.at("key");
    formats.push_back({key, plain ? 1 : scale, plain && holds_whole_numbers(rows, key), seeds});
    table.columns.push_back({text_of(column, "title"), !holds_text(rows, key)});
  }
  for (const Json& row : rows) {
    TableRow out{text_of(row, "label"), text_of(row, "model"), row.value("sees_future", false), {}};
    for (const ColumnFormat& format : formats) {
      out.cells.push_back(format_cell(find_cell(row, format.key), format));
    }
    table.rows.push_back(std::move(out));
  }
  return table;
}

std::string describe_panel(const Json& panel) {
  std::vector<std::string> labels;
  for (const Json& series : panel.at("series")) {
    if (!text_of(series, "label").empty()) labels.push_back(text_of(series, "label"));
  }
  const auto axis = [&](const char* name) {
    return panel.contains(name) ? text_of(panel[name], "label") : std::string();
  };
  std::string text = text_of(panel, "title");
  if (!axis("y").empty()) text += (text.empty() ? "" : ": ") + axis("y");
  if (!axis("x").empty()) text += " against " + axis("x");
  if (panel.contains("categories")) {
    text +=
        fmt::format(" of {}", fmt::join(panel["categories"].get<std::vector<std::string>>(), ", "));
  }
  if (!labels.empty()) text += fmt::format(" ({})", fmt::join(labels, ", "));
  return text + ".";
}

ReportFigure make_figure(const Json& json) {
  ReportFigure figure{slug(json.at("id").get<std::string>()), text_of(json, "title"),
                      text_of(json, "caption"), text_of(json, "title") + "."};
  for (const Json& panel : json.at("panels")) figure.description += " " + describe_panel(panel);
  return figure;
}

std::string progress_text(const Json& experiment) {
  const Json runs = experiment.value("runs", Json::object());
  const auto total = runs.value("total", 0), done = runs.value("done", 0),
             failed = runs.value("failed", 0);
  std::string text = fmt::format("{} of {} {} done", done, total, total == 1 ? "run" : "runs");
  if (failed > 0) text += fmt::format(", {} failed", failed);
  const double seconds = runs.value("seconds", 0.0);
  if (done > 0 && seconds > 0) text += fmt::format("; {} of training", duration_text(seconds));
  return text;
}

ReportSection make_section(const Json& json, size_t seeds) {
  ReportSection section{.id = slug(json.at("name").get<std::string>()),
                        .title = text_of(json, "title"),
                        .claim = text_of(json, "claim"),
                        .method = text_of(json, "method"),
                        .progress = progress_text(json),
                        .ours = text_of(json, "origin") == "ours",
                        .tables = {},
                        .figures = {}};
  for (const Json& table : json.value("tables", Json::array())) {
    section.tables.push_back(make_table(table, seeds));
  }
  for (const Json& figure : json.value("figures", Json::array())) {
    section.figures.push_back(make_figure(figure));
  }
  return section;
}

std::string scalar_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return fmt::format("{:.6g}", value.get<double>());
  if (value.is_array()) {
    std::vector<std::string> parts;
    for (const Json& part : value) parts.push_back(scalar_text(part));
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  return value.dump();
}

// Objects become one line of "name value", arrays lists of their elements.
Fact make_fact(const std::string& name, const Json& value) {
  Fact fact{name == "train" ? "Training" : name == "changes" ? "Not the paper’s" : name, {}};
  if (value.is_object()) {
    std::vector<std::string> parts;
    for (const auto& [key, inner] : value.items()) parts.push_back(key + " " + scalar_text(inner));
    fact.values.push_back(fmt::format("{}", fmt::join(parts, "; ")));
  } else if (value.is_array()) {
    for (const Json& inner : value) fact.values.push_back(scalar_text(inner));
    if (value.empty()) fact.values.emplace_back("nothing");
  } else {
    fact.values.push_back(scalar_text(value));
  }
  return fact;
}

std::vector<Fact> make_facts(const Json& results) {
  const Json machine = results.value("machine", Json::object());
  const Json runs = results.value("runs", Json::object());
  std::string hardware = text_of(machine, "cpu");
  if (machine.contains("threads")) {
    const auto threads = machine["threads"].get<int>();
    hardware += fmt::format("; {} {}", threads, threads == 1 ? "thread" : "threads");
  }
  std::vector<Fact> facts{
      {"Preset", {text_of(results, "preset")}},
      {"Seeds", {scalar_text(results.value("seeds", Json::array()))}},
      {"Runs", {fmt::format("{} of {} done", runs.value("done", 0), runs.value("total", 0))}},
      {"Time of training", {duration_text(runs.value("seconds", 0.0))}},
      {"Machine", {hardware}}};
  std::vector<std::string> software{"edelta " + text_of(results, "version")};
  for (const auto& [key, value] : machine.items()) {
    if (key == "cpu" || key == "threads" || scalar_text(value).empty()) continue;
    software.push_back(key + " " + scalar_text(value));
  }
  facts.push_back({"Software", {fmt::format("{}", fmt::join(software, "; "))}});
  const Json protocol = results.value("protocol", Json::object());
  for (const auto& [name, value] : protocol.items()) {
    if (name != "preset") facts.push_back(make_fact(name, value));
  }
  return facts;
}

// "Of 4 comparisons with the paper 1 holds, 2 hold in order but not in size, 1 was not run."
std::string count_verdicts(const std::vector<ReportSection>& sections) {
  std::map<std::string, int> counts;
  int total = 0;
  for (const ReportSection& section : sections) {
    for (const ReportTable& table : section.tables) {
      if (!table.verdict) continue;
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
                   {"not run", "was not run", "were not run"},
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

std::vector<std::string> list_unfinished(const Json& experiments) {
  std::vector<std::string> list;
  for (const Json& experiment : experiments) {
    const Json runs = experiment.value("runs", Json::object());
    if (runs.value("done", 0) >= runs.value("total", 0)) continue;
    list.push_back(text_of(experiment, "title") + ": " + progress_text(experiment));
  }
  return list;
}

}  // namespace

bool ReportTable::sees_future() const {
  return std::any_of(rows.begin(), rows.end(), [](const TableRow& row) { return row.sees_future; });
}

Document make_document(const Json& results) {
  Document document;
  document.facts = make_facts(results);
  document.verdict_rule = results.value("verdict_rule", std::vector<std::string>{});
  const size_t seeds = results.value("seeds", Json::array()).size();
  for (const Json& experiment : results.at("experiments")) {
    document.sections.push_back(make_section(experiment, seeds));
  }
  document.outcome = count_verdicts(document.sections);
  if (!results.value("protocol", Json::object()).value("changes", Json::array()).empty()) {
    document.outcome +=
        " Training was not by the paper’s protocol (see What was run): the verdicts on trained "
        "models say whether its order and sizes appear in this smaller setting.";
  }
  for (const Json& difference : results.value("differences", Json::array())) {
    document.differences.push_back({text_of(difference, "matter"), text_of(difference, "paper"),
                                    text_of(difference, "published_code"),
                                    text_of(difference, "here")});
  }
  document.unfinished = list_unfinished(results.at("experiments"));
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

}  // namespace edelta::experiments::report
