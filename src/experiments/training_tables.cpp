#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/result_tables.h"

namespace edelta::experiments {
namespace {

// Pools over the whole sequence: each position sees those after it.
bool sees_future(const models::ModelConfig& model) {
  const bool pools =
      model.model == "ddl" || model.model == "edelta" || model.model == "edelta-stream";
  return pools && model.pool == ops::Pool::sequence;
}

std::vector<double> values(const std::vector<const RunRecord*>& runs, const char* key) {
  std::vector<double> found;
  for (const RunRecord* run : runs) found.push_back(run->result->at(key).get<double>());
  return found;
}

// The γ of all operators at the end of all runs: "0.02–0.98, mean 0.51".
std::string final_gates(const std::vector<const RunRecord*>& runs) {
  std::vector<double> gates;
  for (const RunRecord* run : runs) {
    const auto last = std::find_if(run->metrics.rbegin(), run->metrics.rend(),
                                   [](const auto& entry) { return entry.contains("gamma"); });
    if (last == run->metrics.rend()) continue;
    for (const double gamma : (*last)["gamma"]) gates.push_back(gamma);
  }
  if (gates.empty()) return "";
  const auto [least, most] = std::minmax_element(gates.begin(), gates.end());
  return fmt::format("{:.3f}–{:.3f}, mean {:.3f}", *least, *most, statistics(gates)->mean);
}

Cell columns(bool compared, bool gates) {
  Cell list = Cell::array();
  if (compared) list.push_back(column("paper", "paper", false));
  list.push_back(column("best", "best", false));
  list.push_back(column("final", "final", false));
  if (compared) {
    list.push_back(column("ratio", "final / paper"));
    list.push_back(column("paper_rank", "rank in the paper"));
  }
  list.push_back(column("rank", "rank"));
  if (gates && compared) list.push_back(column("paper_gamma", "final γ in the paper"));
  if (gates) list.push_back(column("gamma", "final γ"));
  list.push_back(column("parameters", "parameters"));
  return list;
}

Cell variant_row(const Variant& variant, const std::vector<const RunRecord*>& all,
                 const std::vector<const RunRecord*>& finished, bool gates) {
  Cell row{{"label", variant.label}};
  if (variant.label == variant.model) row["model"] = variant.model;
  row["sees_future"] = sees_future(all.front()->config.model);
  Cell& cells = row["cells"];
  cells["paper"] = paper_cell(variant.paper);
  cells["best"] = mean_cell(values(finished, "best_val_loss"));
  cells["final"] = mean_cell(values(finished, "final_val_loss"));
  if (variant.paper && !finished.empty()) {
    const double mean = statistics(values(finished, "final_val_loss"))->mean;
    cells["ratio"] = value_cell(mean / variant.paper->mean);
  }
  if (gates) {
    cells["paper_gamma"] = text_cell(variant.paper_gamma);
    cells["gamma"] = text_cell(final_gates(finished));
  }
  if (!finished.empty()) {
    cells["parameters"] = value_cell(finished.front()->result->at("parameters").get<double>());
  }
  return row;
}

}  // namespace

Cell training_table(RunArchive& archive, const TrainingTable& table) {
  const bool compared = std::any_of(table.variants.begin(), table.variants.end(),
                                    [](const Variant& variant) { return variant.paper; });
  Cell rows = Cell::array();
  std::vector<ComparedRow> compared_rows;
  std::vector<std::optional<double>> paper, ours;
  for (const Variant& variant : table.variants) {
    const auto finished = archive.finished(table, variant);
    rows.push_back(variant_row(variant, archive.runs(table, variant), finished, table.gates));
    const auto final_loss = statistics(values(finished, "final_val_loss"));
    ours.push_back(final_loss ? std::optional(final_loss->mean) : std::nullopt);
    paper.push_back(variant.paper ? std::optional(variant.paper->mean) : std::nullopt);
    if (variant.paper) compared_rows.push_back({variant.label, *variant.paper, ours.back()});
  }
  const std::vector<Cell> paper_ranks = ranks(paper), our_ranks = ranks(ours);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i]["cells"]["paper_rank"] = paper_ranks[i];
    rows[i]["cells"]["rank"] = our_ranks[i];
  }
  Cell out{{"id", table.id},
           {"title", table.title},
           {"unit", fmt::format("×1e{}", std::lround(std::log10(table.scale)))},
           {"scale", table.scale},
           {"columns", columns(compared, table.gates)},
           {"rows", rows}};
  if (!table.note.empty()) out["note"] = table.note;
  if (!compared) {
    set_verdict(out, std::nullopt);
  } else if (!archive.preset().comparable) {
    set_verdict(out, not_comparable());
  } else {
    set_verdict(out, judge(compared_rows, kLossTolerance));
  }
  return out;
}

}  // namespace edelta::experiments
