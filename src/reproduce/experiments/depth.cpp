// Depth: what becomes of signal and gradient as layers are added.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "edelta/probes/depth.h"
#include "reproduce/curve.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/plan.h"
#include "reproduce/run_archive.h"
#include "reproduce/wording.h"

namespace edelta::reproduce {
namespace {

using probes::DepthProfile;
using probes::DepthRun;

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all{
      {.label = "gpt", .model = "gpt"},
      {.label = "ddl", .model = "ddl"},
      {.label = "mhc", .model = "mhc"},
      {.label = "jpmhc", .model = "jpmhc"},
      {.label = "edelta", .model = "edelta"},
      {.label = "edelta (cayley)", .model = "edelta", .settings = {{"branch", "cayley"}}},
      {.label = "edelta, no operator", .model = "edelta", .settings = {{"branch", "none"}}},
      {.label = "edelta, no operator, no H",
       .model = "edelta",
       .settings = {{"branch", "none"}, {"projections", "off"}}},
      {.label = "edelta-stream", .model = "edelta-stream"}};
  return all;
}

std::string depth_probe_name(const Variant& variant, uint64_t seed) {
  std::string name = "depth-" + variant.model;
  for (const auto& [key, value] : variant.settings.items()) {
    name += fmt::format("-{}={}", key, value.get<std::string>());
  }
  return fmt::format("{}-seed{}", name, seed);
}

void plan_depth(const Experiment&, Plan& plan, uint64_t seed) {
  for (const Variant& variant : variants()) {
    probes::DepthProbeOptions options = plan.preset().depth;
    options.models = {variant.model};
    options.model_settings.update(variant.settings);
    options.seed = seed;
    plan.add_measurement(depth_probe_name(variant, seed), options, /*seconds=*/40);
  }
}

std::string depth_scope(const Experiment&, const RunArchive& archive) {
  const probes::DepthProbeOptions& options = archive.preset().depth;
  return fmt::format(
      "In this run: {} layers of width {}, {} with {} positions, {} iterations by the preset {}, "
      "{}; "
      "losses are of the whole validation split, everything else of {} sequences.",
      listed(options.layers), options.model_settings["n_embd"].get<int64_t>(), options.task,
      options.task_settings["steps"].get<int64_t>(), options.iterations, options.preset,
      seeds_text(archive.manifest().seeds), options.sequences);
}

// A look at a model: at its initial weights, or after its training.
enum class Moment { start, trained };

// All probes that the suite has made.
class Probes {
 public:
  explicit Probes(const RunArchive& archive) {
    for (const Variant& variant : variants()) {
      for (const uint64_t seed : archive.manifest().seeds) {
        const auto runs =
            archive.measurement(depth_probe_name(variant, seed), probes::depth_runs_from_json);
        if (!runs) continue;
        runs_[variant.label].insert(runs_[variant.label].end(), runs->begin(), runs->end());
      }
    }
  }

  // One for each seed.
  std::vector<const DepthProfile*> find(const Variant& variant, int64_t layers,
                                        Moment moment) const {
    std::vector<const DepthProfile*> found;
    const auto runs = runs_.find(variant.label);
    if (runs == runs_.end()) return found;
    for (const DepthRun& run : runs->second) {
      if (run.layers != layers) continue;
      if (moment == Moment::start) found.push_back(&run.start);
      if (moment == Moment::trained && run.trained) found.push_back(&*run.trained);
    }
    return found;
  }

 private:
  std::map<std::string, std::vector<DepthRun>> runs_;
};

// A number of a profile; nothing where the model does not have it.
using Quantity = std::function<std::optional<double>(const DepthProfile&)>;

// What is not finite is left out.
Cell over_seeds_cell(const std::vector<const DepthProfile*>& profiles, const Quantity& quantity) {
  std::vector<double> values;
  for (const DepthProfile* profile : profiles) {
    const std::optional<double> value = quantity(*profile);
    if (value && std::isfinite(*value)) values.push_back(*value);
  }
  return mean_cell(values);
}

std::optional<double> last(const std::vector<double>& curve) {
  return curve.empty() ? std::nullopt : std::optional(curve.back());
}

struct QuantityColumn {
  Column column;
  Quantity quantity;
};
const std::vector<QuantityColumn>& quantity_columns() {
  static const std::vector<QuantityColumn> all{
      {{"signal", "signal out/in"}, [](const DepthProfile& each) { return last(each.signal); }},
      {{"gradient", "gradient first/last"},
       [](const DepthProfile& each) { return std::optional(each.gradient.front()); }},
      {{"tokens", "cosine of tokens"},
       [](const DepthProfile& each) { return last(each.token_cosine); }},
      {{"streams", "cosine of streams"},
       [](const DepthProfile& each) { return last(each.stream_cosine); }},
      {{"smallest", "σ_min of the product"},
       [](const DepthProfile& each) {
         return each.product ? std::optional(each.product->smallest_singular) : std::nullopt;
       }},
      {{"largest", "σ_max of the product"}, [](const DepthProfile& each) {
         return each.product ? std::optional(each.product->largest_singular) : std::nullopt;
       }}};
  return all;
}

Table profile_table(const Probes& probes, int64_t layers, Moment moment) {
  const bool start = moment == Moment::start;
  Table table{.id = fmt::format("depth-{}-{}", start ? "start" : "trained", layers),
              .title = fmt::format("{} layers, {}", layers,
                                   start ? "at the initial weights" : "after the training"),
              .note =
                  "Cosines are those at the last layer. The product is that of all operators on "
                  "streams; gpt and ddl have none."};
  for (const QuantityColumn& each : quantity_columns()) table.columns.push_back(each.column);
  for (const Variant& variant : variants()) {
    Row row{.label = variant.label, .model = variant.model};
    const auto profiles = probes.find(variant, layers, moment);
    for (const QuantityColumn& each : quantity_columns()) {
      row.set(each.column.key, over_seeds_cell(profiles, each.quantity));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table loss_table(const Probes& probes, const std::vector<int64_t>& depths) {
  Table table{
      .id = "depth-loss",
      .title = "After the training: validation loss",
      .note = "A model that always predicts zero has 0.0625, the mean square of the targets."};
  for (const int64_t layers : depths) {
    table.columns.push_back({std::to_string(layers), fmt::format("{} layers", layers)});
  }
  for (const Variant& variant : variants()) {
    Row row{.label = variant.label, .model = variant.model};
    for (const int64_t layers : depths) {
      row.set(std::to_string(layers),
              over_seeds_cell(probes.find(variant, layers, Moment::trained),
                              [](const DepthProfile& each) { return std::optional(each.loss); }));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<Table> depth_tables(const Experiment&, RunArchive& archive) {
  const Probes probes(archive);
  const std::vector<int64_t>& depths = archive.preset().depth.layers;
  std::vector<Table> list;
  for (const int64_t layers : depths) {
    list.push_back(profile_table(probes, layers, Moment::start));
  }
  list.push_back(profile_table(probes, depths.back(), Moment::trained));
  list.push_back(loss_table(probes, depths));
  return list;
}

Panel layers_panel(const Probes& probes, const std::string& title, const std::string& ratio,
                   int64_t layers, Moment moment, std::vector<double> DepthProfile::* member) {
  Panel panel{.title = title, .x = {"layer"}, .y = {ratio, true}};
  for (const Variant& variant : variants()) {
    std::vector<std::map<double, double>> runs;
    for (const DepthProfile* profile : probes.find(variant, layers, moment)) {
      std::map<double, double>& run = runs.emplace_back();
      for (size_t layer = 0; layer < (profile->*member).size(); ++layer) {
        run[static_cast<double>(layer)] = (profile->*member)[layer];
      }
    }
    const Curve curve = over_runs(runs);
    if (curve.empty()) continue;
    panel.series.push_back(series(variant.label, variant.model, LineStyle::solid, curve));
  }
  panel.reference_lines = {{1.0, "preserved"}};
  return panel;
}

std::vector<Figure> depth_figures(const Experiment&, RunArchive& archive) {
  const Probes probes(archive);
  const int64_t deepest = archive.preset().depth.layers.back();
  std::set<size_t> counts;
  for (const Variant& variant : variants()) {
    const size_t count = probes.find(variant, deepest, Moment::start).size();
    if (count > 0) counts.insert(count);
  }
  const auto panels = [&](Moment moment) -> std::vector<Panel> {
    return {layers_panel(probes, "signal", "norm / norm at layer 0", deepest, moment,
                         &DepthProfile::signal),
            layers_panel(probes, "gradient", "norm / norm at the last layer", deepest, moment,
                         &DepthProfile::gradient)};
  };
  const auto drawn = [&](const char* id, const char* when, Moment moment) {
    return figure(
        id, fmt::format("Signal and gradient over {} layers, {}", deepest, when),
        fmt::format("The norm of the residual stream against that of what is embedded, and of the "
                    "loss’s gradient against that at the last layer, {}: {}.",
                    when, over_seeds(counts, "from the smallest to the largest as a band")),
        panels(moment));
  };
  return {drawn("depth-start", "at the initial weights", Moment::start),
          drawn("depth-trained", "after the training", Moment::trained)};
}

}  // namespace

Experiment depth_experiment() {
  return {
      .name = "depth",
      .title = "Depth",
      .ours = true,
      .claim =
          "Orthogonal residual operators keep the norm of what passes through them, however many "
          "there are; its models have 6 to 9 layers.",
      .method =
          "Models of one width and growing depth, at their initial weights and after a short "
          "training: the residual stream after every block, the gradient of the task’s loss "
          "there, how alike tokens and streams become, and the product of all operators.",
      .plan_seed = plan_depth,
      .scope = depth_scope,
      .tables = depth_tables,
      .figures = depth_figures};
}

}  // namespace edelta::reproduce
