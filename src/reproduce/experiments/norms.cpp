// Norm preservation: unit vectors through the models that were trained on stability.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "edelta/probes/probes.h"
#include "reproduce/compared_quantity.h"
#include "reproduce/curve.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/experiments/own_study.h"
#include "reproduce/experiments/stability_runs.h"
#include "reproduce/plan.h"
#include "reproduce/run_archive.h"
#include "reproduce/statistics.h"
#include "reproduce/training_tables.h"
#include "reproduce/wording.h"

namespace edelta::reproduce {
namespace {

using probes::NormProbe;

struct PaperNorms {
  const char* model;
  double deviation, last_norm;
};
constexpr PaperNorms kPaperNorms[] = {{"gpt", 0.474, 0.55},
                                      {"ddl", 0.506, 0.50},
                                      {"mhc", 0.543, 0.45},
                                      {"jpmhc", 0.004, 1.00},
                                      {"edelta", 0.001, 1.00}};

constexpr const char* kControl = "edelta, no operator";

std::string norms_probe_name(const std::string& run) { return "norms-" + run; }

// The positions that the paper has, or all that the model sees where they are fewer.
probes::NormProbeOptions probe_options(const train::TrainConfig& config) {
  probes::NormProbeOptions options;
  options.positions = std::min(options.positions, config.model.block_size);
  return options;
}

std::string norms_scope(const Experiment& experiment, const RunArchive& archive) {
  const TrainingTable& runs = experiment.trainings.front();
  const probes::NormProbeOptions options =
      probe_options(training_config(archive.folder(), archive.preset(), runs, runs.variants.front(),
                                    archive.manifest().seeds.front()));
  return fmt::format("{} {} sequences of {} vectors go through each.",
                     training_scope(experiment, archive), options.sequences, options.positions);
}

void plan_norms(const Experiment& experiment, Plan& plan, uint64_t seed) {
  for (const TrainingTable& table : experiment.trainings) {
    for (const Variant& variant : table.variants) {
      const Step run = plan.add_training(table, variant, seed);
      const Training& training = *run.training();
      const ProbeNorms probe{training.folder, probe_options(training.config)};
      plan.add_measurement(norms_probe_name(run.name), probe, /*seconds=*/2, /*after=*/run.name);
    }
  }
}

// Every seed's, where it has been made.
std::vector<NormProbe> probes_of(RunArchive& archive, const TrainingTable& runs,
                                 const Variant& variant) {
  std::vector<NormProbe> found;
  for (const RunRecord* run : archive.runs(runs, variant)) {
    const auto probe =
        archive.measurement(norms_probe_name(run->name), probes::norm_probe_from_json);
    if (probe) found.push_back(*probe);
  }
  return found;
}

// What is not finite is left out.
std::vector<double> finite(const std::vector<NormProbe>& probes, double NormProbe::* member) {
  std::vector<double> values;
  for (const NormProbe& probe : probes) {
    if (std::isfinite(probe.*member)) values.push_back(probe.*member);
  }
  return values;
}

// The same of the model that has no residual operator, and so none that could keep a norm.
Table control_table(RunArchive& archive, const TrainingTable& runs) {
  Table table{.id = "norms-control",
              .title = "The same without an operator",
              .columns = {{"deviation", "deviation"}, {"last", "last norm"}},
              .note =
                  "A model that gives its input back keeps norms exactly, and has a loss of 2×10⁻⁶ "
                  "on stability."};
  const std::vector<NormProbe> probes =
      probes_of(archive, runs, *std::ranges::find(runs.variants, kControl, &Variant::label));
  Row row{.label = kControl, .model = "edelta"};
  row.set("deviation", mean_cell(finite(probes, &NormProbe::norm_deviation)));
  row.set("last", mean_cell(finite(probes, &NormProbe::last_norm)));
  table.rows.push_back(std::move(row));
  return table;
}

TrainingTable probed_runs() {
  TrainingTable runs = stability_runs("norms-stability");
  runs.variants.push_back(edelta_with(kControl, {{"branch", "none"}}));
  return runs;
}

std::vector<Table> norms_tables(const Experiment& experiment, RunArchive& archive) {
  ComparedQuantity deviation("norm_deviation", "deviation", kLossTolerance);
  ComparedQuantity last_norm("last_norm", "last norm", kLossTolerance);
  Table table{.id = "norms",
              .title = "Norm of the outputs for unit vectors",
              .columns = columns_of({deviation, last_norm}),
              .note =
                  "Deviation: mean over positions of |mean norm − 1|. The last position is the "
                  "100th, or the model's last where it sees fewer."};
  const TrainingTable& runs = experiment.trainings.front();
  for (const PaperNorms& paper : kPaperNorms) {
    const auto variant =
        std::find_if(runs.variants.begin(), runs.variants.end(),
                     [&](const Variant& each) { return each.label == paper.model; });
    const std::vector<NormProbe> probes = probes_of(archive, runs, *variant);
    Row row{.label = paper.model, .model = paper.model};
    deviation.add_row(row.label, {paper.deviation, {}}, finite(probes, &NormProbe::norm_deviation),
                      row);
    last_norm.add_row(row.label, {paper.last_norm, {}}, finite(probes, &NormProbe::last_norm), row);
    table.rows.push_back(std::move(row));
  }
  conclude({deviation, last_norm}, table);
  if (!archive.preset().comparable) table.verdict = not_comparable();
  return {table, control_table(archive, runs)};
}

// Means over seeds at each position; the band is the mean deviation over sequences.
Curve norm_curve(const std::vector<NormProbe>& probes) {
  std::map<size_t, std::vector<double>> norms, deviations;
  for (const NormProbe& probe : probes) {
    for (size_t i = 0; i < probe.mean_norm.size(); ++i) {
      norms[i].push_back(probe.mean_norm[i]);
      deviations[i].push_back(probe.deviation[i]);
    }
  }
  Curve curve;
  for (const auto& [i, values] : norms) {
    const double mean = statistics(values)->mean;
    const double deviation = statistics(deviations[i])->mean;
    curve.x.push_back(static_cast<double>(i + 1));
    curve.y.push_back(mean);
    curve.low.push_back(mean - deviation);
    curve.high.push_back(mean + deviation);
  }
  return curve;
}

std::vector<Figure> norms_figures(const Experiment& experiment, RunArchive& archive) {
  Panel panel{.title = "norm of the output", .x = {"position"}, .y = {"mean norm"}};
  const TrainingTable& runs = experiment.trainings.front();
  std::set<size_t> counts;
  for (const Variant& variant : runs.variants) {
    const std::vector<NormProbe> probes = probes_of(archive, runs, variant);
    const Curve curve = norm_curve(probes);
    if (curve.empty()) continue;
    counts.insert(probes.size());
    panel.series.push_back(series(variant.label, variant.model, LineStyle::solid, curve));
  }
  panel.reference_lines = {{1.0, "preserved"}};
  return {figure("norms", "Norm against position",
                 fmt::format("Mean norm of the outputs for random unit vectors: {}; the band is a "
                             "standard deviation over sequences.",
                             over_seeds(counts, "")),
                 {panel})};
}

}  // namespace

Experiment norms_experiment() {
  return {.name = "norms",
          .title = "Norm preservation",
          .claim =
              "Trained on stability, edelta and jpmhc keep the length of unit vectors over "
              "100 positions; the others lose half of it.",
          .method =
              "Random sequences of unit vectors go through the models of the stability table (best "
              "weights); the mean norm of what comes out, at each position. Beside them edelta "
              "without its operator.",
          .trainings = {probed_runs()},
          .plan_seed = plan_norms,
          .scope = norms_scope,
          .tables = norms_tables,
          .figures = norms_figures};
}

}  // namespace edelta::reproduce
