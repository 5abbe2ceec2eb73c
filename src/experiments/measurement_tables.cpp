#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/compared_quantity.h"
#include "experiments/result_tables.h"

namespace edelta::experiments {
namespace {

using nlohmann::json;

Cell empty_table(const std::string& id, const std::string& title, const Cell& columns) {
  return {{"id", id},   {"title", title},     {"unit", ""},
          {"scale", 1}, {"columns", columns}, {"rows", Cell::array()}};
}

Cell columns_of(const std::vector<ComparedQuantity>& quantities) {
  Cell columns = Cell::array();
  for (const ComparedQuantity& each : quantities) each.add_columns(columns);
  return columns;
}

std::vector<Cell> theorem_tables(const RunArchive& archive) {
  Cell table =
      empty_table("theorems", "Statements, by their worst case",
                  {column("statement", "statement"), column("measured", "measured"),
                   column("worst", "worst"), column("bound", "bound"), column("holds", "verdict")});
  const auto measured = archive.measurement("theorems");
  if (!measured) {
    set_verdict(table, Verdict{"not run", "the statements have not been checked"});
    return {table};
  }
  size_t fail = 0;
  for (const json& row : measured->at("rows")) {
    const std::string holds = row.at("verdict");
    fail += holds == "holds" ? 0 : 1;
    const bool at_most = row.at("relation") == "<=";
    table["rows"].push_back(
        {{"label", row.at("id")},
         {"cells",
          {{"statement", text_cell(row.at("statement"))},
           {"measured", text_cell(row.at("measured"))},
           {"worst", text_cell(row.at("worst").is_number()
                                   ? fmt::format("{:.1e}", row.at("worst").get<double>())
                                   : "not finite")},
           {"bound", text_cell(fmt::format("{} {:.3g}", at_most ? "≤" : "≥",
                                           row.at("bound").get<double>()))},
           {"holds", text_cell(holds)}}}});
  }
  const size_t all = table["rows"].size();
  set_verdict(table, Verdict{fail == 0 ? "holds" : "does not hold",
                             fmt::format("{} of {} statements hold on {} random operators of each "
                                         "size",
                                         all - fail, all, measured->at("samples").get<int64_t>())});
  return {table};
}

std::vector<Cell> config_tables(const RunArchive& archive, const Experiment& experiment) {
  Cell table =
      empty_table("configs", "Matched configurations",
                  {column("layers", "layers"), column("width", "D"),
                   column("paper", "parameters, paper"), column("parameters", "parameters, here")});
  const auto measured = archive.measurement("configs");
  size_t equal = 0, known = 0;
  for (const json& row : measured.value_or(json::array())) {
    const std::string model = row.at("model");
    Cell cells{{"layers", value_cell(row.at("n_layer"))},
               {"width", value_cell(row.at("n_embd"))},
               {"parameters", value_cell(row.at("parameters"))}};
    for (const PaperRow& paper : experiment.paper) {
      if (paper.model != model) continue;
      const double count = paper.values.front().second.mean;
      cells["paper"] = value_cell(count);
      ++known;
      equal += row.at("parameters").get<double>() == count ? 1 : 0;
    }
    table["rows"].push_back({{"label", model}, {"model", model}, {"cells", cells}});
  }
  if (measured) {
    set_verdict(table,
                Verdict{equal == experiment.paper.size() ? "holds" : "does not hold",
                        fmt::format("{} of {} counts are the paper's exactly", equal, known)});
  } else {
    set_verdict(table, Verdict{"not run", "nothing has been counted"});
  }
  return {table};
}

std::optional<PaperValue> paper_value(const PaperRow& row, const std::string& key) {
  for (const auto& [name, value] : row.values) {
    if (name == key) return value;
  }
  return std::nullopt;
}

// Of every seed's norm probe; what is not finite is stored as null and left out.
std::vector<double> norm_values(RunArchive& archive, const TrainingTable& runs,
                                const Variant& variant, const std::string& key) {
  std::vector<double> values;
  for (const RunRecord* run : archive.runs(runs, variant)) {
    const auto probe = archive.measurement(norms_name(run->name));
    if (probe && probe->at(key).is_number()) values.push_back(probe->at(key));
  }
  return values;
}

std::vector<Cell> norm_tables(RunArchive& archive, const Experiment& experiment) {
  std::vector<ComparedQuantity> quantities{{"norm_deviation", "deviation", kLossTolerance},
                                           {"last_norm", "last norm", kLossTolerance}};
  Cell table = empty_table("norms", "Norm of the outputs for unit vectors", columns_of(quantities));
  const TrainingTable& runs = experiment.tables.front();
  for (const PaperRow& row : experiment.paper) {
    const auto variant = std::find_if(runs.variants.begin(), runs.variants.end(),
                                      [&](const Variant& each) { return each.label == row.label; });
    Cell cells;
    for (ComparedQuantity& each : quantities) {
      each.add_row(row.label, *paper_value(row, each.key()),
                   norm_values(archive, runs, *variant, each.key()), cells);
    }
    table["rows"].push_back({{"label", row.label}, {"model", row.model}, {"cells", cells}});
  }
  table["note"] =
      "Deviation: mean over positions of |mean norm − 1|. The last position is the 100th, or the "
      "model's last where it sees fewer.";
  conclude(quantities, table);
  if (!archive.preset().comparable) set_verdict(table, not_comparable());
  return {table};
}

// One of the paper's operators: by samples, β or γ and the alignment.
Cell reflection_table(const RunArchive& archive, const Experiment& experiment,
                      const std::string& op, std::vector<ComparedQuantity> quantities) {
  Cell table =
      empty_table("reflection-" + op, fmt::format("{}: by number of samples", reflection_model(op)),
                  columns_of(quantities));
  for (const PaperRow& row : experiment.paper) {
    if (row.model != op) continue;
    const std::string samples = row.label.substr(row.label.find('/') + 1);
    Cell cells;
    for (ComparedQuantity& each : quantities) {
      each.add_row(samples + " samples", *paper_value(row, each.key()),
                   reflection_values(archive, op, std::stoll(samples), each.key()), cells);
    }
    table["rows"].push_back({{"label", samples}, {"cells", cells}});
  }
  conclude(quantities, table);
  return table;
}

Cell all_alignments(const RunArchive& archive) {
  Cell columns = Cell::array();
  const std::vector<int64_t> sizes = reflection_samples(archive);
  for (const int64_t samples : sizes) {
    columns.push_back(column(std::to_string(samples), fmt::format("{} samples", samples)));
  }
  Cell table = empty_table("reflection-alignment", "Alignment with −x, all operators", columns);
  for (const std::string& op : reflection_operators(archive.preset())) {
    Cell cells = Cell::object();
    for (const int64_t samples : sizes) {
      cells[std::to_string(samples)] =
          mean_cell(reflection_values(archive, op, samples, "alignment"));
    }
    table["rows"].push_back({{"label", op}, {"model", reflection_model(op)}, {"cells", cells}});
  }
  table["note"] =
      "Mean cosine between output and −x on samples that were not seen: 1 is −x, −1 is x.";
  set_verdict(table, std::nullopt);
  return table;
}

std::vector<Cell> reflection_tables(const RunArchive& archive, const Experiment& experiment) {
  const ComparedQuantity beta{"beta", "β", kAngleTolerance}, gamma{"gamma", "γ", kAngleTolerance},
      alignment{"alignment", "alignment", kAlignmentTolerance};
  return {reflection_table(archive, experiment, "ddl", {beta, alignment}),
          reflection_table(archive, experiment, "hybrid", {gamma, alignment}),
          reflection_table(archive, experiment, "jpmhc", {alignment}), all_alignments(archive)};
}

Cell number_at(const json& object, const json::json_pointer& key) {
  return object.contains(key) && object[key].is_number() ? value_cell(object[key]) : Cell();
}

std::vector<Cell> efficiency_tables(const RunArchive& archive) {
  Cell table = empty_table(
      "efficiency", "Training steps at the matched sizes",
      {column("step", "step, s"), column("composite", "step in plain libtorch, s"),
       column("speedup", "speed-up"), column("gflop", "GFLOP a step"),
       column("peak", "share of the FMA peak"), column("inference", "inference, tokens/s")});
  const auto measured = archive.measurement("efficiency");
  if (!measured) {
    set_verdict(table, Verdict{"not run", "no step has been timed"});
    return {table};
  }
  for (const json& row : measured->at("results")) {
    table["rows"].push_back(
        {{"label", row.at("model")},
         {"model", row.at("model")},
         {"cells",
          {{"step", number_at(row, "/fused/step_s"_json_pointer)},
           {"composite", number_at(row, "/composite/step_s"_json_pointer)},
           {"speedup", number_at(row, "/speedup"_json_pointer)},
           {"gflop", number_at(row, "/gflop"_json_pointer)},
           {"peak", number_at(row, "/share_of_peak"_json_pointer)},
           {"inference", number_at(row, "/fused/inference_tokens_per_s"_json_pointer)}}}});
  }
  table["note"] = fmt::format(
      "Batch {} of {} positions. The share counts the operations of the plain algorithm; mhc's "
      "fused path does fewer, because it folds the equal streams that its sub-layers see, and may "
      "exceed 1.",
      measured->value("batch", 0), measured->value("length", 0));
  set_verdict(table, std::nullopt);
  return {table};
}

}  // namespace

std::string reflection_model(const std::string& op) { return op == "hybrid" ? "edelta" : op; }

std::vector<double> reflection_values(const RunArchive& archive, const std::string& op,
                                      int64_t samples, const std::string& key) {
  std::vector<double> values;
  for (const uint64_t seed : archive.manifest().seeds) {
    const auto measured = archive.measurement(reflection_name(op, seed));
    if (!measured) continue;
    for (const json& run : measured->at("runs")) {
      const bool measured_here = run.at("samples") == samples && run.contains(key);
      if (measured_here && run.at(key).is_number()) values.push_back(run.at(key));
    }
  }
  return values;
}

std::vector<int64_t> reflection_samples(const RunArchive& archive) {
  std::set<int64_t> sizes;
  for (const std::string& op : reflection_operators(archive.preset())) {
    for (const uint64_t seed : archive.manifest().seeds) {
      const auto measured = archive.measurement(reflection_name(op, seed));
      if (!measured) continue;
      for (const json& run : measured->at("runs")) sizes.insert(run.at("samples").get<int64_t>());
    }
  }
  return {sizes.begin(), sizes.end()};
}

std::vector<Cell> result_tables(RunArchive& archive, const Experiment& experiment) {
  switch (experiment.kind) {
    case Kind::theorems:
      return theorem_tables(archive);
    case Kind::configs:
      return config_tables(archive, experiment);
    case Kind::norms:
      return norm_tables(archive, experiment);
    case Kind::reflection:
      return reflection_tables(archive, experiment);
    case Kind::efficiency:
      return efficiency_tables(archive);
    case Kind::training:
      break;
  }
  std::vector<Cell> tables;
  for (const TrainingTable& table : experiment.tables) {
    tables.push_back(training_table(archive, table));
  }
  return tables;
}

}  // namespace edelta::experiments
