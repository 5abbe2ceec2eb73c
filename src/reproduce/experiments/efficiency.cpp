// Time of a training step.
#include <fmt/format.h>

#include "bench/bench.h"
#include "reproduce/curve.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/plan.h"
#include "reproduce/run_archive.h"

namespace edelta::reproduce {
namespace {

using bench::ModelBench;

constexpr const char* kEfficiency = "efficiency";

void plan_efficiency(const Experiment&, Plan& plan) {
  plan.add_timing(kEfficiency, plan.preset().bench, /*seconds=*/330);
}

Row model_row(const ModelBench& model) {
  Row row{.label = model.model, .model = model.model};
  row.set("step", model.fused.step());
  row.set("composite", model.composite ? Cell(model.composite->step()) : Cell(Absent()));
  row.set("speedup", model.composite ? Cell(model.speedup()) : Cell(Absent()));
  row.set("gflop", model.gflop);
  row.set("peak", model.share_of_peak());
  row.set("inference", model.fused.inference);
  return row;
}

std::vector<Table> efficiency_tables(const Experiment&, RunArchive& archive) {
  Table table{.id = kEfficiency,
              .title = "Training steps at the matched sizes",
              .columns = {{"step", "step, s"},
                          {"composite", "step in plain libtorch, s"},
                          {"speedup", "speed-up"},
                          {"gflop", "GFLOP a step"},
                          {"peak", "share of the FMA peak"},
                          {"inference", "inference, tokens/s"}}};
  const auto report = archive.measurement(kEfficiency, bench::bench_report_from_json);
  if (!report) {
    table.verdict = Verdict{"not run", "no step has been timed"};
    return {table};
  }
  for (const ModelBench& model : report->results) table.rows.push_back(model_row(model));
  table.note = fmt::format(
      "Batch {} of {} positions. The share counts the operations of the plain algorithm; mhc's "
      "fused path does fewer, because it folds the equal streams that its sub-layers see, and may "
      "exceed 1.",
      report->batch, report->length);
  return {table};
}

std::vector<Figure> efficiency_figures(const Experiment&, RunArchive& archive) {
  Panel times{.title = "time of a training step", .kind = PanelKind::bars, .y = {"seconds"}};
  Panel shares{.title = "share of the FMA peak", .kind = PanelKind::bars, .y = {"share"}};
  Curve fused, composite, share;
  const auto add = [](Curve& curve, double value) {
    curve.x.push_back(static_cast<double>(curve.x.size()));
    curve.y.push_back(value);
  };
  const auto report = archive.measurement(kEfficiency, bench::bench_report_from_json);
  for (const ModelBench& model : report ? report->results : std::vector<ModelBench>{}) {
    times.categories.push_back(model.model);
    add(fused, model.fused.step());
    if (model.composite) add(composite, model.composite->step());
    add(share, model.share_of_peak());
  }
  shares.categories = times.categories;
  // Bars are told apart by their place, so that a model without a value would shift the others.
  const auto show = [&](Panel& panel, const char* label, const Curve& curve) {
    if (curve.empty() || curve.x.size() != times.categories.size()) return;
    panel.series.push_back(series(label, "", LineStyle::solid, curve));
  };
  show(times, "fused kernels", fused);
  show(times, "plain libtorch", composite);
  show(shares, "fused kernels", share);
  return {figure(kEfficiency, "Time of a training step",
                 "The fastest of the repetitions, at the matched sizes.", {times, shares})};
}

}  // namespace

Experiment efficiency_experiment() {
  return {.name = kEfficiency,
          .title = "Time of a training step",
          .ours = true,
          .claim = "",
          .method =
              "Times depend on the machine, so nothing of the paper is compared here. Training "
              "steps at the matched sizes, fused kernels against plain libtorch, and "
              "the share of the processor's measured peak of fused multiply-adds (FMA); the "
              "fastest of the repetitions.",
          .plan_once = plan_efficiency,
          .tables = efficiency_tables,
          .figures = efficiency_figures};
}

}  // namespace edelta::reproduce
