#include "experiments/result_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "experiments/result_tables.h"

namespace edelta::experiments {
namespace {

using nlohmann::json;

constexpr double kStabilityFloor = 1.0e-6;

struct Axis {
  const char* label;
  bool log = false;
};

Cell panel(const std::string& title, const char* kind, Axis x, Axis y) {
  return {{"title", title},
          {"kind", kind},
          {"x", {{"label", x.label}, {"log", x.log}}},
          {"y", {{"label", y.label}, {"log", y.log}}},
          {"series", Cell::array()}};
}

Cell series(const std::string& label, const std::string& model, const char* style,
            const Curve& curve) {
  Cell out{{"label", label}};
  if (!model.empty()) out["model"] = model;
  out["style"] = style;
  out["x"] = curve.x;
  out["y"] = curve.y;
  if (!curve.low.empty()) out["low"] = curve.low;
  if (!curve.high.empty()) out["high"] = curve.high;
  return out;
}

Cell figure(const std::string& id, const std::string& title, const std::string& caption,
            std::vector<Cell> panels) {
  std::erase_if(panels, [](const Cell& each) { return each["series"].empty(); });
  return {{"id", id}, {"title", title}, {"caption", caption}, {"panels", panels}};
}

// The mean over runs with the range from the smallest to the largest, where all runs have a value.
Curve over_runs(const std::vector<std::map<double, double>>& runs) {
  Curve curve;
  if (runs.empty()) return curve;
  for (const auto& [x, first] : runs.front()) {
    std::vector<double> values;
    for (const auto& run : runs) {
      if (const auto found = run.find(x); found != run.end()) values.push_back(found->second);
    }
    if (values.size() < runs.size()) continue;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    curve.x.push_back(x);
    curve.y.push_back(statistics(values)->mean);
    if (runs.size() > 1) {
      curve.low.push_back(*low);
      curve.high.push_back(*high);
    }
  }
  return thinned(curve);
}

std::map<double, double> logged(const RunRecord& run, const char* key) {
  std::map<double, double> values;
  for (const json& entry : run.metrics) {
    if (entry.contains(key)) values[entry["iteration"].get<double>()] = entry[key].get<double>();
  }
  return values;
}

// Variants of one model are told apart by their label, architectures by their colour.
std::string colour_of(const Variant& variant) {
  return variant.label == variant.model ? variant.model : "";
}

Cell curves_panel(RunArchive& archive, const TrainingTable& table, const char* key, Axis y) {
  Cell out = panel(table.title.substr(0, table.title.find(':')), "lines", {"iteration"}, y);
  for (const Variant& variant : table.variants) {
    std::vector<std::map<double, double>> runs;
    for (const RunRecord* run : archive.finished(table, variant)) {
      runs.push_back(logged(*run, key));
    }
    const Curve curve = over_runs(runs);
    if (!curve.x.empty()) {
      out["series"].push_back(series(variant.label, colour_of(variant), "solid", curve));
    }
  }
  return out;
}

Cell dynamics_figure(RunArchive& archive, const Experiment& experiment) {
  std::vector<Cell> panels;
  for (const TrainingTable& table : experiment.tables) {
    Cell losses = curves_panel(archive, table, "val_loss", {"validation loss", true});
    if (table.task == "stability") {
      losses["reference_lines"] = Cell::array({{{"y", kStabilityFloor}, {"label", "noise floor"}}});
    }
    panels.push_back(losses);
    panels.push_back(curves_panel(archive, table, "gradient_norm", {"gradient norm", true}));
  }
  return figure(experiment.name + "-dynamics", experiment.title + ": training dynamics",
                "Validation loss and gradient norm before clipping: mean over seeds, from the "
                "smallest to the largest as a band.",
                panels);
}

// Bars of the paper's numbers and ours, each with its standard deviation.
Cell losses_panel(RunArchive& archive, const TrainingTable& table) {
  Cell out = panel(table.title.substr(0, table.title.find(':')), "bars", {""},
                   {"final validation loss", true});
  Cell categories = Cell::array();
  Curve paper, ours;
  const auto add = [](Curve& curve, double mean, double std) {
    curve.x.push_back(static_cast<double>(curve.x.size()));
    curve.y.push_back(mean);
    curve.low.push_back(std::max(mean - std, mean / 10));  // a logarithmic axis has no 0
    curve.high.push_back(mean + std);
  };
  for (const Variant& variant : table.variants) {
    std::vector<double> losses;
    for (const RunRecord* run : archive.finished(table, variant)) {
      losses.push_back(run->result->at("final_val_loss").get<double>());
    }
    const auto result = statistics(losses);
    if (!result || !variant.paper) continue;
    categories.push_back(variant.label);
    add(paper, variant.paper->mean, variant.paper->std.value_or(0));
    add(ours, result->mean, result->std);
  }
  if (categories.empty()) return out;
  out["categories"] = categories;
  out["series"] = {series("paper", "", "solid", paper), series("here", "", "solid", ours)};
  if (table.task == "stability") {
    out["reference_lines"] = Cell::array({{{"y", kStabilityFloor}, {"label", "noise floor"}}});
  }
  return out;
}

Cell final_losses_figure(RunArchive& archive, const Experiment& experiment) {
  std::vector<Cell> panels;
  for (const TrainingTable& table : experiment.tables) {
    panels.push_back(losses_panel(archive, table));
  }
  return figure(experiment.name + "-losses", experiment.title + ": final losses",
                "Final validation loss, mean and standard deviation over seeds.", panels);
}

// γ of every operator in the first seed's run: a mean over seeds would show gates that decided
// differently as undecided.
Cell gates_figure(RunArchive& archive, const Experiment& experiment) {
  std::vector<Cell> panels;
  for (const TrainingTable& table : experiment.tables) {
    for (const Variant& variant : table.variants) {
      Cell out = panel(table.title.substr(0, table.title.find(':')) + ", " + variant.label, "lines",
                       {"iteration"}, {"γ"});
      const auto runs = archive.finished(table, variant);
      std::vector<Curve> gates;
      for (const json& entry : runs.empty() ? std::vector<json>{} : runs.front()->metrics) {
        if (!entry.contains("gamma")) continue;
        gates.resize(entry["gamma"].size());
        for (size_t i = 0; i < gates.size(); ++i) {
          gates[i].x.push_back(entry["iteration"]);
          gates[i].y.push_back(entry["gamma"][i]);
        }
      }
      for (size_t i = 0; i < gates.size(); ++i) {
        const bool attention = i % 2 == 0;
        out["series"].push_back(series(fmt::format("{} {}", i / 2 + 1, attention ? "attn" : "MLP"),
                                       "", attention ? "solid" : "dashed", thinned(gates[i])));
      }
      panels.push_back(out);
    }
  }
  return figure(experiment.name + "-gates", experiment.title + ": gates",
                "γ of every operator, by layer, in the run of the first seed. 1 is rotation, 0 "
                "reflection.",
                panels);
}

Cell norms_figure(RunArchive& archive, const Experiment& experiment) {
  Cell out = panel("norm of the output", "lines", {"position"}, {"mean norm"});
  const TrainingTable& table = experiment.tables.front();
  for (const Variant& variant : table.variants) {
    std::map<double, std::vector<double>> norms, deviations;
    for (const RunRecord* run : archive.runs(table, variant)) {
      const auto probe = archive.measurement(norms_name(run->name));
      if (!probe) continue;
      for (size_t i = 0; i < probe->at("mean_norm").size(); ++i) {
        const auto position = static_cast<double>(i + 1);
        norms[position].push_back(probe->at("mean_norm")[i]);
        deviations[position].push_back(probe->at("deviation")[i]);
      }
    }
    Curve curve;
    for (const auto& [position, values] : norms) {
      const double mean = statistics(values)->mean;
      const double deviation = statistics(deviations[position])->mean;
      curve.x.push_back(position);
      curve.y.push_back(mean);
      curve.low.push_back(mean - deviation);
      curve.high.push_back(mean + deviation);
    }
    if (!curve.x.empty()) {
      out["series"].push_back(series(variant.label, variant.model, "solid", curve));
    }
  }
  out["reference_lines"] = Cell::array({{{"y", 1.0}, {"label", "preserved"}}});
  return figure("norms", "Norm against position",
                "Mean norm of the outputs for random unit vectors, over seeds; the band is a "
                "standard deviation over sequences.",
                {out});
}

// One number against the number of samples, the paper's as points.
Cell by_samples(const RunArchive& archive, const Experiment& experiment, const char* key,
                const char* title, const std::vector<std::string>& operators) {
  Cell out = panel(title, "lines", {"samples", true}, {title});
  for (const std::string& op : operators) {
    Curve ours, paper;
    for (const int64_t samples : reflection_samples(archive)) {
      const auto result = statistics(reflection_values(archive, op, samples, key));
      if (!result) continue;
      ours.x.push_back(static_cast<double>(samples));
      ours.y.push_back(result->mean);
      ours.low.push_back(result->mean - result->std);
      ours.high.push_back(result->mean + result->std);
    }
    if (!ours.x.empty()) out["series"].push_back(series(op, reflection_model(op), "solid", ours));
    for (const PaperRow& row : experiment.paper) {
      for (const auto& [name, value] : row.values) {
        if (row.model != op || name != key) continue;
        paper.x.push_back(std::stod(row.label.substr(row.label.find('/') + 1)));
        paper.y.push_back(value.mean);
      }
    }
    if (!ours.x.empty() && !paper.x.empty()) {
      out["series"].push_back(series(op + ", paper", reflection_model(op), "points", paper));
    }
  }
  return out;
}

// One number against the iteration, at the largest number of samples.
Cell trajectories(const RunArchive& archive, const char* key, const char* title,
                  const std::vector<std::string>& operators) {
  const std::vector<int64_t> sizes = reflection_samples(archive);
  Cell out = panel(sizes.empty() ? title : fmt::format("{}, {} samples", title, sizes.back()),
                   "lines", {"iteration"}, {title});
  for (const std::string& op : operators) {
    std::vector<std::map<double, double>> runs;
    for (const uint64_t seed : archive.manifest().seeds) {
      const auto measured = archive.measurement(reflection_name(op, seed));
      for (const json& run : measured ? measured->at("runs") : json::array()) {
        if (run.at("samples") != sizes.back() || !run.at("trajectory").contains(key)) continue;
        const json& trajectory = run.at("trajectory");
        runs.emplace_back();
        for (size_t i = 0; i < trajectory[key].size(); ++i) {
          runs.back()[trajectory["iteration"][i].get<double>()] = trajectory[key][i];
        }
      }
    }
    const Curve curve = over_runs(runs);
    if (!curve.x.empty()) out["series"].push_back(series(op, reflection_model(op), "solid", curve));
  }
  return out;
}

Cell reflection_figure(const RunArchive& archive, const Experiment& experiment) {
  const auto& operators = reflection_operators(archive.preset());
  return figure(
      "reflection", "Learning a reflection",
      "β of DDL (2 is a reflection), γ of the hybrid (0 is a reflection) and the alignment "
      "with −x, by number of samples and in the course of training. Points alone: the paper.",
      {by_samples(archive, experiment, "beta", "β", {"ddl"}),
       by_samples(archive, experiment, "gamma", "γ", {"hybrid"}),
       by_samples(archive, experiment, "alignment", "alignment", operators),
       trajectories(archive, "alignment", "alignment", operators),
       trajectories(archive, "beta", "β", {"ddl"}),
       trajectories(archive, "gamma", "γ", {"hybrid"})});
}

Cell efficiency_figure(const RunArchive& archive) {
  const auto measured = archive.measurement("efficiency");
  Cell times = panel("time of a training step", "bars", {""}, {"seconds"});
  Cell shares = panel("share of the FMA peak", "bars", {""}, {"share"});
  Cell categories = Cell::array();
  Curve fused, composite, share;
  const auto add = [](Curve& curve, const json& row, const json::json_pointer& key) {
    if (!row.contains(key)) return;
    curve.x.push_back(static_cast<double>(curve.x.size()));
    curve.y.push_back(row[key]);
  };
  for (const json& row : measured ? measured->at("results") : json::array()) {
    categories.push_back(row.at("model").get<std::string>());
    add(fused, row, "/fused/step_s"_json_pointer);
    add(composite, row, "/composite/step_s"_json_pointer);
    add(share, row, "/share_of_peak"_json_pointer);
  }
  times["categories"] = shares["categories"] = categories;
  const auto show = [&](Cell& out, const char* label, const Curve& curve) {
    if (!categories.empty() && curve.x.size() == categories.size()) {
      out["series"].push_back(series(label, "", "solid", curve));
    }
  };
  show(times, "fused kernels", fused);
  show(times, "plain libtorch", composite);
  show(shares, "fused kernels", share);
  return figure("efficiency", "Time of a training step",
                "The fastest of the repetitions, at the matched sizes.", {times, shares});
}

}  // namespace

Curve thinned(const Curve& curve) {
  if (curve.x.size() <= kMostPoints) return curve;
  Curve out;
  const size_t last = curve.x.size() - 1;
  for (size_t i = 0; i < kMostPoints; ++i) {
    const size_t from = i * last / (kMostPoints - 1);  // the first and the last point stay
    out.x.push_back(curve.x[from]);
    out.y.push_back(curve.y[from]);
    if (!curve.low.empty()) out.low.push_back(curve.low[from]);
    if (!curve.high.empty()) out.high.push_back(curve.high[from]);
  }
  return out;
}

std::vector<Cell> result_figures(RunArchive& archive, const Experiment& experiment) {
  const std::map<Figure, std::function<Cell()>> makers{
      {Figure::dynamics, [&] { return dynamics_figure(archive, experiment); }},
      {Figure::final_losses, [&] { return final_losses_figure(archive, experiment); }},
      {Figure::gates, [&] { return gates_figure(archive, experiment); }},
      {Figure::norms, [&] { return norms_figure(archive, experiment); }},
      {Figure::reflection, [&] { return reflection_figure(archive, experiment); }},
      {Figure::regularisers, regulariser_figure},
      {Figure::efficiency, [&] { return efficiency_figure(archive); }}};
  std::vector<Cell> figures;
  for (const Figure wanted : experiment.figures) {
    Cell made = makers.at(wanted)();
    if (!made["panels"].empty()) figures.push_back(std::move(made));
  }
  return figures;
}

}  // namespace edelta::experiments
