// The theorems, by their worst case on random operators; and the gate's regularisers.
#include <fmt/format.h>

#include <cmath>

#include "edelta/geometry/gate.h"
#include "edelta/torch.h"
#include "edelta/verify/theorems.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/regulariser_figure.h"
#include "reproduce/plan.h"
#include "reproduce/run_archive.h"
#include "reproduce/wording.h"

namespace edelta::reproduce {
namespace {

using geometry::GateRegulariser;
using torch::Tensor;

constexpr const char* kTheorems = "theorems";

void plan_theorems(const Experiment&, Plan& plan) {
  plan.add_measurement(kTheorems, plan.preset().theorems, /*seconds=*/10);
}

Row theorem_row(const verify::TheoremRow& theorem) {
  Row row{.label = theorem.id};
  row.set("statement", text_cell(theorem.statement));
  row.set("measured", text_cell(theorem.measured));
  row.set("worst", std::isfinite(theorem.worst) ? fmt::format("{:.1e}", theorem.worst)
                                                : std::string("not finite"));
  row.set("bound",
          fmt::format("{} {:.3g}", theorem.relation == verify::Relation::at_most ? "≤" : "≥",
                      theorem.bound));
  row.set("holds", std::string(theorem.holds() ? "holds" : "fails"));
  return row;
}

std::string theorems_scope(const Experiment&, const RunArchive& archive) {
  const verify::TheoremOptions& options = archive.preset().theorems;
  return fmt::format("In this run: {} operators of each of the sizes {}.", options.samples,
                     listed(options.sizes));
}

std::vector<Table> theorems_tables(const Experiment&, RunArchive& archive) {
  Table table{.id = kTheorems,
              .title = "Statements, by their worst case",
              .columns = {{"statement", "statement"},
                          {"measured", "measured"},
                          {"worst", "worst"},
                          {"bound", "bound"},
                          {"holds", "verdict"}},
              .note =
                  "Q: the Cayley rotation, from A = uvᵀ − vuᵀ and M = (β/2)A; H: the Householder "
                  "reflection along k; Δ = I − β k kᵀ: the delta operator; G = γQ + (1 − γ)H: the "
                  "hybrid, with the gate γ. Worst: the largest over all operators that were tried, "
                  "or the smallest where the bound is a lower one."};
  const auto report = archive.measurement(kTheorems, verify::theorem_report_from_json);
  if (!report) {
    table.verdict = Verdict{"not run", "the statements have not been checked"};
    return {table};
  }
  for (const verify::TheoremRow& theorem : report->rows) {
    table.rows.push_back(theorem_row(theorem));
  }
  const auto all = static_cast<int64_t>(report->rows.size());
  table.verdict =
      Verdict{report->all_hold() ? "holds" : "does not hold",
              fmt::format("{} of {} statements hold on {} random operators of each size",
                          all - report->failures(), all, report->options.samples)};
  return {table};
}

std::vector<double> to_vector(const Tensor& tensor) {
  const Tensor values = tensor.detach().contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

}  // namespace

Figure regulariser_figure() {
  constexpr std::pair<GateRegulariser, const char*> kRegularisers[] = {
      {GateRegulariser::product, "4γ(1−γ), the paper's"},
      {GateRegulariser::entropy, "entropy"},
      {GateRegulariser::squared_product, "[γ(1−γ)]²"},
      {GateRegulariser::min_distance, "min(γ², (1−γ)²)"}};
  // The ends stay out: the entropy's slope is infinite there.
  const Tensor gamma = torch::linspace(0.005, 0.995, 199, torch::kFloat64).requires_grad_();
  Panel values{.title = "penalty", .x = {"γ"}, .y = {"penalty"}};
  Panel slopes{.title = "slope", .x = {"γ"}, .y = {"slope"}};
  for (const auto& [regulariser, label] : kRegularisers) {
    const Tensor penalty = geometry::gate_penalty(gamma, regulariser);
    const Tensor slope = torch::autograd::grad({penalty.sum()}, {gamma}).front();
    values.series.push_back({.label = label, .x = to_vector(gamma), .y = to_vector(penalty)});
    slopes.series.push_back({.label = label, .x = to_vector(gamma), .y = to_vector(slope)});
  }
  return {
      "regularisers",
      "Gate regularisers",
      "What each regulariser charges a value of the gate γ (1 is rotation, 0 reflection), and its "
      "slope, which drives the gate to a decision. The smooth ones have no slope at ½.",
      {values, slopes}};
}

Experiment theorems_experiment() {
  return {.name = kTheorems,
          .title = "The theorems, numerically",
          .claim =
              "Cayley rotations are exactly orthogonal and never reach the eigenvalue −1, "
              "Householder reflections do; the gate joins them, and its regulariser decides.",
          .method =
              "Every statement is measured on random operators of several sizes, by the code "
              "that trains; it holds or fails by its worst case.",
          .plan_once = plan_theorems,
          .scope = theorems_scope,
          .tables = theorems_tables,
          .figures = [](const Experiment&, RunArchive&) {
            return std::vector<Figure>{regulariser_figure()};
          }};
}

}  // namespace edelta::reproduce
