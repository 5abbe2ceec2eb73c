#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "edelta/base/error.h"
#include "reproduce/results_json.h"

namespace edelta::reproduce {
namespace {

using Json = nlohmann::ordered_json;

// Absent and null are the same.
std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? "" : found->get<std::string>();
}

Json object_of(const Json& object, const char* key) { return object.value(key, Json::object()); }
Json list_of(const Json& object, const char* key) { return object.value(key, Json::array()); }

template <class T, class Read>
std::vector<T> read_list(const Json& list, const Read& read) {
  std::vector<T> out;
  for (const Json& item : list) out.push_back(read(item));
  return out;
}

// What is of no known form is absent.
Cell read_cell(const Json& json) {
  if (json.contains("text")) return text_of(json, "text");
  if (json.contains("value")) {
    const Json& value = json["value"];
    if (value.is_number_integer()) return Rank{value.get<int64_t>()};
    return value.is_number() ? Cell(value.get<double>()) : Cell(Absent());
  }
  if (!json.contains("mean") || !json["mean"].is_number()) return Absent();
  const double mean = json["mean"].get<double>();
  std::optional<double> std;
  if (json.contains("std") && json["std"].is_number()) std = json["std"].get<double>();
  if (!json.contains("n")) return PaperValue{mean, std};
  return Mean{mean, std, json["n"].get<size_t>()};
}

Column read_column(const Json& json) {
  return {json.at("key").get<std::string>(), text_of(json, "title"), json.value("plain", false)};
}

Row read_row(const Json& json) {
  Row row{.label = text_of(json, "label"), .model = text_of(json, "model")};
  if (json.contains("sees_future")) row.sees_future = json["sees_future"].get<bool>();
  for (const auto& [key, cell] : json.at("cells").items()) row.set(key, read_cell(cell));
  return row;
}

Table read_table(const Json& json) {
  Table table{.id = json.at("id").get<std::string>(),
              .title = text_of(json, "title"),
              .unit = text_of(json, "unit"),
              .scale = json.value("scale", 1.0),
              .columns = read_list<Column>(json.at("columns"), read_column),
              .rows = read_list<Row>(json.at("rows"), read_row),
              .note = text_of(json, "note")};
  const std::string verdict = text_of(json, "verdict"), reason = text_of(json, "reason");
  if (!verdict.empty()) table.verdict = Verdict{verdict, reason};
  return table;
}

PanelKind read_kind(const std::string& kind) {
  if (kind == "lines") return PanelKind::lines;
  if (kind == "bars") return PanelKind::bars;
  if (kind == "points") return PanelKind::points;
  throw InputError(fmt::format("a panel of kind {}; there are lines, bars and points", kind));
}

// Any other is drawn solid.
LineStyle read_style(const std::string& style) {
  if (style == "dashed") return LineStyle::dashed;
  if (style == "dotted") return LineStyle::dotted;
  return style == "points" ? LineStyle::points : LineStyle::solid;
}

std::vector<double> read_numbers(const Json& object, const char* key) {
  std::vector<double> values;
  if (!object.contains(key) || object[key].is_null()) return values;
  for (const Json& value : object[key]) {
    values.push_back(value.is_number() ? value.get<double>() : NAN);
  }
  return values;
}

Series read_series(const Json& json) {
  return {.label = json.value("label", ""),
          .model = json.value("model", ""),
          .style = read_style(json.value("style", "solid")),
          .x = read_numbers(json, "x"),
          .y = read_numbers(json, "y"),
          .low = read_numbers(json, "low"),
          .high = read_numbers(json, "high")};
}

AxisTitle read_axis(const Json& json) {
  return {json.value("label", ""), json.value("log", false)};
}

Panel read_panel(const Json& json) {
  return {.title = json.value("title", ""),
          .kind = read_kind(json.value("kind", "lines")),
          .x = read_axis(object_of(json, "x")),
          .y = read_axis(object_of(json, "y")),
          .series = read_list<Series>(json.at("series"), read_series),
          .categories = json.value("categories", std::vector<std::string>{}),
          .reference_lines = read_list<ReferenceLine>(
              list_of(json, "reference_lines"), [](const Json& line) -> ReferenceLine {
                return {line.at("y").get<double>(), line.value("label", "")};
              })};
}

Figure read_figure(const Json& json) {
  return {json.at("id").get<std::string>(), text_of(json, "title"), text_of(json, "caption"),
          read_list<Panel>(json.at("panels"), read_panel)};
}

Progress read_progress(const Json& json) {
  return {json.value("total", int64_t{0}), json.value("done", int64_t{0}),
          json.value("failed", int64_t{0}), json.value("seconds", 0.0)};
}

TextSample read_sample(const Json& json) {
  return {json.value("label", ""), json.value("text", "")};
}

ExperimentResult read_experiment(const Json& json) {
  return {.name = json.at("name").get<std::string>(),
          .title = text_of(json, "title"),
          .ours = text_of(json, "origin") == "ours",
          .claim = text_of(json, "claim"),
          .method = text_of(json, "method"),
          .runs = read_progress(object_of(json, "runs")),
          .tables = read_list<Table>(list_of(json, "tables"), read_table),
          .figures = read_list<Figure>(list_of(json, "figures"), read_figure),
          .samples = read_list<TextSample>(list_of(json, "samples"), read_sample)};
}

MachineSummary read_machine(const Json& json) {
  MachineSummary machine{.cpu = text_of(json, "cpu"),
                         .threads = {},
                         .isa = text_of(json, "isa"),
                         .blas = text_of(json, "blas"),
                         .libtorch = text_of(json, "libtorch")};
  if (json.contains("threads")) {
    const Json& threads = json["threads"];
    machine.threads = threads.is_array() ? threads.get<std::vector<int64_t>>()
                                         : std::vector{threads.get<int64_t>()};
  }
  return machine;
}

SettingValue read_setting(const Json& json) {
  if (json.is_boolean()) return {json.get<bool>()};
  if (json.is_number_integer()) return {json.get<int64_t>()};
  if (json.is_number()) return {json.get<double>()};
  if (json.is_array()) return {read_list<SettingValue>(json, read_setting)};
  return {json.get<std::string>()};
}

ProtocolSummary read_protocol(const Json& json) {
  ProtocolSummary protocol{.preset = text_of(json, "preset"),
                           .train = {},
                           .changes = json.value("changes", std::vector<std::string>{})};
  const Json train = object_of(json, "train");
  for (const auto& [name, value] : train.items()) {
    protocol.train.push_back({name, read_setting(value)});
  }
  return protocol;
}

ProtocolDifference read_difference(const Json& json) {
  return {text_of(json, "matter"), text_of(json, "paper"), text_of(json, "published_code"),
          text_of(json, "here")};
}

Results read_results(const Json& json) {
  Results results{
      .preset = text_of(json, "preset"),
      .seeds = json.value("seeds", std::vector<uint64_t>{}),
      .version = text_of(json, "version"),
      .machine = read_machine(object_of(json, "machine")),
      .runs = read_progress(object_of(json, "runs")),
      .protocol = {},
      .differences = read_list<ProtocolDifference>(list_of(json, "differences"), read_difference),
      .verdict_rule = json.value("verdict_rule", std::vector<std::string>{}),
      .experiments = read_list<ExperimentResult>(json.at("experiments"), read_experiment)};
  if (json.contains("protocol")) results.protocol = read_protocol(json["protocol"]);
  return results;
}

// The library's errors as ours, without the number that it puts before them.
template <class Read>
auto checked(const Json& json, const Read& read) {
  try {
    return read(json);
  } catch (const nlohmann::json::exception& error) {
    const std::string text = error.what();
    const size_t number_end = text.find("] ");
    throw InputError("these are no results of a reproduction: " +
                     (number_end == std::string::npos ? text : text.substr(number_end + 2)));
  }
}

}  // namespace

Results results_from_json(const Json& json) { return checked(json, read_results); }

Figure figure_from_json(const Json& json) { return checked(json, read_figure); }

}  // namespace edelta::reproduce
