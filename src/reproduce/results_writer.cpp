#include <nlohmann/json.hpp>

#include "reproduce/results_json.h"

namespace edelta::reproduce {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "edelta-results-1";

Json to_json(const Column& column);
Json to_json(const Row& row);
Json to_json(const Table& table);
Json to_json(const Series& series);
Json to_json(const ReferenceLine& line);
Json to_json(const Panel& panel);
Json to_json(const Figure& figure);
Json to_json(const TextSample& sample);
Json to_json(const ExperimentResult& experiment);
Json to_json(const SettingValue& setting);
Json to_json(const ProtocolDifference& difference);

template <class T>
Json list(const std::vector<T>& items) {
  Json out = Json::array();
  for (const T& item : items) out.push_back(to_json(item));
  return out;
}

struct CellWriter {
  Json operator()(Absent) const { return nullptr; }
  Json operator()(const Mean& cell) const {
    Json out{{"mean", cell.mean}};
    if (cell.std) out["std"] = *cell.std;
    out["n"] = cell.n;
    return out;
  }
  Json operator()(const PaperValue& cell) const {
    Json out{{"mean", cell.mean}};
    if (cell.std) out["std"] = *cell.std;
    return out;
  }
  Json operator()(double value) const { return {{"value", value}}; }
  Json operator()(const std::string& text) const { return {{"text", text}}; }
  Json operator()(const Rank& rank) const { return {{"value", rank.value}}; }
};

Json to_json(const Column& column) {
  Json out{{"key", column.key}, {"title", column.title}};
  if (column.plain) out["plain"] = true;
  return out;
}

Json to_json(const Row& row) {
  Json out{{"label", row.label}};
  if (!row.model.empty()) out["model"] = row.model;
  if (row.sees_future) out["sees_future"] = *row.sees_future;
  Json& cells = out["cells"] = Json::object();
  for (const auto& [key, cell] : row.cells) cells[key] = std::visit(CellWriter(), cell);
  return out;
}

Json to_json(const Table& table) {
  Json out{{"id", table.id}, {"title", table.title}, {"unit", table.unit}};
  out["scale"] = table.scale == 1 ? Json(1) : Json(table.scale);
  out["columns"] = list(table.columns);
  out["rows"] = list(table.rows);
  if (!table.note.empty()) out["note"] = table.note;
  out["verdict"] = table.verdict ? Json(table.verdict->text) : Json();
  if (table.verdict) out["reason"] = table.verdict->reason;
  return out;
}

const char* to_string(LineStyle style) {
  switch (style) {
    case LineStyle::dashed:
      return "dashed";
    case LineStyle::dotted:
      return "dotted";
    case LineStyle::points:
      return "points";
    case LineStyle::solid:
      break;
  }
  return "solid";
}

const char* to_string(PanelKind kind) {
  switch (kind) {
    case PanelKind::bars:
      return "bars";
    case PanelKind::points:
      return "points";
    case PanelKind::lines:
      break;
  }
  return "lines";
}

Json to_json(const Series& series) {
  Json out{{"label", series.label}};
  if (!series.model.empty()) out["model"] = series.model;
  out["style"] = to_string(series.style);
  out["x"] = series.x;
  out["y"] = series.y;
  if (!series.low.empty()) out["low"] = series.low;
  if (!series.high.empty()) out["high"] = series.high;
  return out;
}

Json to_json(const AxisTitle& axis) { return {{"label", axis.label}, {"log", axis.log}}; }

Json to_json(const ReferenceLine& line) { return {{"y", line.y}, {"label", line.label}}; }

Json to_json(const Panel& panel) {
  Json out{{"title", panel.title},
           {"kind", to_string(panel.kind)},
           {"x", to_json(panel.x)},
           {"y", to_json(panel.y)},
           {"series", list(panel.series)}};
  if (!panel.categories.empty()) out["categories"] = panel.categories;
  if (!panel.reference_lines.empty()) out["reference_lines"] = list(panel.reference_lines);
  return out;
}

Json to_json(const Figure& figure) {
  return {{"id", figure.id},
          {"title", figure.title},
          {"caption", figure.caption},
          {"panels", list(figure.panels)}};
}

Json to_json(const Progress& runs) {
  return {{"total", runs.total},
          {"done", runs.done},
          {"failed", runs.failed},
          {"seconds", runs.seconds}};
}

Json to_json(const TextSample& sample) { return {{"label", sample.label}, {"text", sample.text}}; }

Json to_json(const ExperimentResult& experiment) {
  Json out{{"name", experiment.name},
           {"title", experiment.title},
           {"origin", experiment.ours ? "ours" : "paper"},
           {"claim", experiment.claim},
           {"method", experiment.method},
           {"runs", to_json(experiment.runs)},
           {"tables", list(experiment.tables)},
           {"figures", list(experiment.figures)}};
  if (!experiment.samples.empty()) out["samples"] = list(experiment.samples);
  return out;
}

Json to_json(const MachineSummary& machine) {
  Json out{{"cpu", machine.cpu}};
  if (machine.threads.size() == 1) {
    out["threads"] = machine.threads.front();
  } else if (!machine.threads.empty()) {
    out["threads"] = machine.threads;
  }
  out["isa"] = machine.isa;
  out["blas"] = machine.blas;
  out["libtorch"] = machine.libtorch;
  return out;
}

struct SettingWriter {
  Json operator()(const std::vector<SettingValue>& values) const { return list(values); }
  template <class Scalar>
  Json operator()(const Scalar& value) const {
    return value;
  }
};

Json to_json(const SettingValue& setting) { return std::visit(SettingWriter(), setting.value); }

Json to_json(const ProtocolSummary& protocol) {
  Json train = Json::object();
  for (const NamedSetting& setting : protocol.train) train[setting.name] = to_json(setting.value);
  return {{"preset", protocol.preset}, {"train", train}, {"changes", protocol.changes}};
}

Json to_json(const ProtocolDifference& difference) {
  return {{"matter", difference.matter},
          {"paper", difference.paper},
          {"published_code", difference.published_code},
          {"here", difference.here}};
}

}  // namespace

Json to_json(const Results& results) {
  return {{"format", kFormat},
          {"preset", results.preset},
          {"seeds", results.seeds},
          {"version", results.version},
          {"machine", to_json(results.machine)},
          {"runs", to_json(results.runs)},
          {"protocol", results.protocol ? to_json(*results.protocol) : Json::object()},
          {"differences", list(results.differences)},
          {"verdict_rule", results.verdict_rule},
          {"experiments", list(results.experiments)}};
}

}  // namespace edelta::reproduce
