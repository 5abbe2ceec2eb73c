// Learning a reflection: operators alone, asked for x → −x.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "edelta/probes/reflection.h"
#include "edelta/probes/reflection_probe.h"
#include "reproduce/compared_quantity.h"
#include "reproduce/curve.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/plan.h"
#include "reproduce/run_archive.h"
#include "reproduce/statistics.h"
#include "reproduce/wording.h"

namespace edelta::reproduce {
namespace {

using probes::ReflectionPoint;
using probes::ReflectionRun;

// A number that an operator ends with.
struct Quantity {
  const char *key, *title;
  double ReflectionPoint::* value;
  bool ReflectionRun::* present;  // null: every operator has it
  Tolerance tolerance;

  bool in(const ReflectionRun& run) const { return present == nullptr || run.*present; }
  ComparedQuantity compared() const { return {key, title, tolerance}; }
};
constexpr Quantity kBeta{"beta", "β", &ReflectionPoint::beta, &ReflectionRun::has_beta,
                         kAngleTolerance};
constexpr Quantity kGamma{"gamma", "γ", &ReflectionPoint::gamma, &ReflectionRun::has_gamma,
                          kAngleTolerance};
constexpr Quantity kAlignment{"alignment", "alignment", &ReflectionPoint::alignment, nullptr,
                              kAlignmentTolerance};

constexpr std::array<int64_t, 6> kPaperSamples{10, 25, 50, 100, 200, 500};
struct PaperSeries {
  const char* op;
  const Quantity& quantity;
  std::array<double, kPaperSamples.size()> means;
  std::optional<double> last_std;  // with the most samples; the paper has no others

  PaperValue at(size_t i) const {
    return {means[i], i + 1 == means.size() ? last_std : std::nullopt};
  }
};
const PaperSeries kPaper[] = {
    {"ddl", kBeta, {1.40, 1.58, 1.88, 1.95, 1.98, 1.995}, 0.001},
    {"ddl", kAlignment, {-0.98, -0.85, -0.80, -0.16, 0.61, 0.96}, {}},
    {"hybrid", kGamma, {0.235, 0.255, 0.171, 0.192, 0.281, 0.051}, 0.005},
    {"hybrid", kAlignment, {-1.00, -0.98, -0.38, -0.92, -0.35, 0.960}, 0.001},
    {"jpmhc", kAlignment, {-0.96, -0.94, -0.91, -0.85, -0.68, -0.25}, {}},
};

// The hybrid's branches by themselves, and its blends that stay orthogonal.
constexpr std::array kHybrids{"hybrid", "cayley", "householder", "geodesic", "unitary"};
const std::vector<std::string> kGated{"hybrid", "geodesic", "unitary"};

// The model whose colour and name an operator has.
std::string reflection_model(const std::string& op) {
  return std::find(kHybrids.begin(), kHybrids.end(), op) != kHybrids.end() ? "edelta" : op;
}

const std::vector<std::string>& operators_of(const SuitePreset& preset) {
  const auto& chosen = preset.reflection.operators;
  return chosen.empty() ? probes::reflection_operator_names() : chosen;
}

std::string reflection_probe_name(const std::string& op, uint64_t seed) {
  return fmt::format("reflection-{}-seed{}", op, seed);
}

void plan_reflection(const Experiment&, Plan& plan, uint64_t seed) {
  for (const std::string& op : operators_of(plan.preset())) {
    probes::ReflectionProbeOptions options = plan.preset().reflection;
    options.operators = {op};
    options.seeds = {seed};
    plan.add_measurement(reflection_probe_name(op, seed), options, /*seconds=*/20);
  }
}

// What is not in the paper's comparison.
std::string others_text(const std::vector<std::string>& operators) {
  const auto has = [&](const char* op) {
    return std::find(operators.begin(), operators.end(), op) != operators.end();
  };
  std::vector<std::string> others;
  if (has("cayley")) others.emplace_back("cayley is the hybrid's rotation alone");
  if (has("householder")) others.emplace_back("householder its reflection alone");
  if (has("geodesic")) others.emplace_back("geodesic joins both by rotations");
  if (has("unitary")) others.emplace_back("unitary does so over the complex field");
  if (has("mhc")) others.emplace_back("mhc is a Sinkhorn operator");
  if (has("gpt")) others.emplace_back("gpt is a residual MLP");
  return others.empty() ? "" : fmt::format(" Beside the paper's, {}.", listed(others));
}

std::string reflection_scope(const Experiment&, const RunArchive& archive) {
  const probes::ReflectionProbeOptions& options = archive.preset().reflection;
  const std::vector<std::string>& operators = operators_of(archive.preset());
  return fmt::format("In this run: {} on {} samples of dimension {}, {} iterations with {}.{}",
                     listed(operators), listed(options.samples), options.dim, options.iterations,
                     seeds_text(archive.manifest().seeds), others_text(operators));
}

// All trainings of operators that the suite has.
class Trainings {
 public:
  explicit Trainings(const RunArchive& archive) : operators_(operators_of(archive.preset())) {
    for (const std::string& op : operators_) {
      for (const uint64_t seed : archive.manifest().seeds) {
        const auto runs =
            archive.measurement(reflection_probe_name(op, seed), probes::reflection_runs_from_json);
        if (!runs) continue;
        for (const ReflectionRun& run : *runs) sizes_.insert(run.samples);
        runs_[op].insert(runs_[op].end(), runs->begin(), runs->end());
      }
    }
  }

  const std::vector<std::string>& operators() const { return operators_; }
  const std::set<int64_t>& sizes() const { return sizes_; }  // of training sets
  // Those that have the quantity.
  std::vector<const ReflectionRun*> find(const std::string& op, int64_t samples,
                                         const Quantity& quantity) const {
    std::vector<const ReflectionRun*> found;
    const auto runs = runs_.find(op);
    if (runs == runs_.end()) return found;
    for (const ReflectionRun& run : runs->second) {
      if (run.samples == samples && quantity.in(run)) found.push_back(&run);
    }
    return found;
  }
  // At the end of each; what is not finite is left out.
  std::vector<double> final_values(const std::string& op, int64_t samples,
                                   const Quantity& quantity) const {
    std::vector<double> values;
    for (const ReflectionRun* run : find(op, samples, quantity)) {
      const double value = run->final().*quantity.value;
      if (std::isfinite(value)) values.push_back(value);
    }
    return values;
  }

 private:
  const std::vector<std::string>& operators_;
  std::map<std::string, std::vector<ReflectionRun>> runs_;
  std::set<int64_t> sizes_;
};

// Whether the operators are trained as in the paper, if perhaps with fewer numbers of samples.
bool is_comparable(const probes::ReflectionProbeOptions& options) {
  const probes::ReflectionProbeOptions usual;
  return options.iterations >= usual.iterations && options.dim == usual.dim;
}

// Names the paper's numbers of samples that a preset leaves out.
std::string left_out_text(const std::vector<int64_t>& left_out) {
  if (left_out.empty()) return "";
  return fmt::format("The paper also has {} samples, which are not part of this run.",
                     listed(left_out));
}

// One of the paper's operators: by samples, what the paper has of it.
Table operator_table(const Trainings& trainings, const std::string& op,
                     const probes::ReflectionProbeOptions& options) {
  std::vector<const PaperSeries*> papers;
  std::vector<ComparedQuantity> quantities;
  for (const PaperSeries& paper : kPaper) {
    if (paper.op != op) continue;
    papers.push_back(&paper);
    quantities.push_back(paper.quantity.compared());
  }
  Table table{.id = "reflection-" + op,
              .title = fmt::format("{}: by number of samples", op),
              .columns = columns_of(quantities)};
  std::vector<int64_t> left_out;
  for (size_t i = 0; i < kPaperSamples.size(); ++i) {
    const int64_t samples = kPaperSamples[i];
    if (std::find(options.samples.begin(), options.samples.end(), samples) ==
        options.samples.end()) {
      left_out.push_back(samples);
      continue;
    }
    Row row{.label = std::to_string(samples)};
    for (size_t q = 0; q < quantities.size(); ++q) {
      quantities[q].add_row(fmt::format("{} samples", samples), papers[q]->at(i),
                            trainings.final_values(op, samples, papers[q]->quantity), row);
    }
    table.rows.push_back(std::move(row));
  }
  table.note = left_out_text(left_out);
  conclude(quantities, table);
  if (!is_comparable(options)) {
    table.verdict = not_comparable(
        fmt::format("{} iterations are too few to compare with the paper", options.iterations));
  }
  return table;
}

Table all_alignments(const Trainings& trainings) {
  Table table{.id = "reflection-alignment",
              .title = "Alignment with −x, all operators",
              .note =
                  "Mean cosine between output and −x on samples that were not seen: 1 is −x, "
                  "−1 is x."};
  for (const int64_t samples : trainings.sizes()) {
    table.columns.push_back({std::to_string(samples), fmt::format("{} samples", samples)});
  }
  for (const std::string& op : trainings.operators()) {
    Row row{.label = op, .model = reflection_model(op)};
    for (const int64_t samples : trainings.sizes()) {
      row.set(std::to_string(samples), mean_cell(trainings.final_values(op, samples, kAlignment)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Table> reflection_tables(const Experiment&, RunArchive& archive) {
  const Trainings trainings(archive);
  std::vector<Table> list;
  for (const char* op : {"ddl", "hybrid", "jpmhc"}) {
    list.push_back(operator_table(trainings, op, archive.preset().reflection));
  }
  list.push_back(all_alignments(trainings));
  return list;
}

// Against the number of samples, the paper's as points.
Panel by_samples(const Trainings& trainings, const Quantity& quantity,
                 const std::vector<std::string>& operators) {
  Panel panel{.title = quantity.title, .x = {"samples", true}, .y = {quantity.title}};
  for (const std::string& op : operators) {
    Curve ours;
    for (const int64_t samples : trainings.sizes()) {
      const auto result = statistics(trainings.final_values(op, samples, quantity));
      if (!result) continue;
      ours.x.push_back(static_cast<double>(samples));
      ours.y.push_back(result->mean);
      ours.low.push_back(result->mean - result->std);
      ours.high.push_back(result->mean + result->std);
    }
    if (ours.empty()) continue;
    panel.series.push_back(series(op, reflection_model(op), LineStyle::solid, ours));
    for (const PaperSeries& paper : kPaper) {
      if (paper.op != op || &paper.quantity != &quantity) continue;
      panel.series.push_back(series(op + ", paper", reflection_model(op), LineStyle::points,
                                    {.x = {kPaperSamples.begin(), kPaperSamples.end()},
                                     .y = {paper.means.begin(), paper.means.end()},
                                     .low = {},
                                     .high = {}}));
    }
  }
  return panel;
}

// Against the iteration, at the largest number of samples.
Panel trajectories(const Trainings& trainings, const Quantity& quantity,
                   const std::vector<std::string>& operators) {
  Panel panel{.title = quantity.title, .x = {"iteration"}, .y = {quantity.title}};
  if (trainings.sizes().empty()) return panel;
  const int64_t most = *trainings.sizes().rbegin();
  panel.title = fmt::format("{}, {} samples", quantity.title, most);
  for (const std::string& op : operators) {
    std::vector<std::map<double, double>> runs;
    for (const ReflectionRun* run : trainings.find(op, most, quantity)) {
      runs.emplace_back();
      for (const ReflectionPoint& point : run->trajectory) {
        runs.back()[static_cast<double>(point.iteration)] = point.*quantity.value;
      }
    }
    const Curve curve = over_runs(runs);
    if (curve.empty()) continue;
    panel.series.push_back(series(op, reflection_model(op), LineStyle::solid, curve));
  }
  return panel;
}

std::vector<Figure> reflection_figures(const Experiment&, RunArchive& archive) {
  const Trainings trainings(archive);
  const std::vector<std::string>& all = trainings.operators();
  return {figure(
      "reflection", "Learning a reflection",
      "β of ddl (2 is a reflection), γ of the gates (0 is a reflection) and the alignment with −x "
      "(1 is −x), by number of samples and in the course of training. Points alone: the paper.",
      {by_samples(trainings, kBeta, {"ddl"}), by_samples(trainings, kGamma, kGated),
       by_samples(trainings, kAlignment, all), trajectories(trainings, kAlignment, all),
       trajectories(trainings, kBeta, {"ddl"}), trajectories(trainings, kGamma, kGated)})};
}

}  // namespace

Experiment reflection_experiment() {
  return {
      .name = "reflection",
      .title = "Learning a reflection",
      .claim =
          "Asked for x → −x, the β of ddl goes to 2 and the γ of the hybrid to 0 as samples grow "
          "to 500; jpmhc does not get there.",
      .method =
          "Operators alone, without a transformer; “hybrid” is the operator of edelta. Trained "
          "with AdamW at a learning rate of 10⁻³.",
      .plan_seed = plan_reflection,
      .scope = reflection_scope,
      .tables = reflection_tables,
      .figures = reflection_figures};
}

}  // namespace edelta::reproduce
