#include "edelta/experiments/results.h"

#include <fmt/format.h>

#include <set>

#include "edelta/io/json.h"
#include "edelta/models/registry.h"
#include "edelta/ops/machine.h"
#include "edelta/train/run_folder.h"
#include "edelta/version.h"
#include "experiments/result_figures.h"
#include "experiments/result_tables.h"
#include "experiments/run_archive.h"

namespace edelta::experiments {
namespace {

using nlohmann::json;

// The machine of the trainings; without any, this one.
Cell machine(RunArchive& archive, const std::vector<Experiment>& chosen) {
  json found = ops::describe_machine();
  for (const Experiment& experiment : chosen) {
    for (const TrainingTable& table : experiment.tables) {
      for (const Variant& variant : table.variants) {
        const auto runs = archive.finished(table, variant);
        if (!runs.empty()) found = runs.front()->result->at("machine");
      }
    }
  }
  return {{"cpu", found.value("cpu", "")},
          {"threads", archive.manifest().threads},
          {"isa", found.value("simd", "")},
          {"blas", found.value("blas", "")},
          {"libtorch", found.value("libtorch", "")}};
}

// The preset's training settings, and what of them is not the paper's.
Cell protocol(const SuitePreset& preset) {
  const auto settings = [](const std::string& name, const json& train, const std::string& model,
                           const std::string& task) {
    return to_json(train::train_config_from_json(
        {{"preset", name}, {"train", train}, {"model", model}, {"task", task}}, name));
  };
  const std::string& name = preset.train_preset;
  Cell changes = Cell::array();
  const auto compare = [&](const std::string& what, const Cell& here, const Cell& paper,
                           const std::vector<std::string>& keys) {
    std::vector<std::string> differing;
    for (const std::string& key : keys) {
      if (!here.contains(key) || here[key] == paper[key]) continue;
      differing.push_back(
          fmt::format("{} {} instead of {}", key, here[key].dump(), paper[key].dump()));
    }
    if (!differing.empty()) changes.push_back(what + fmt::format("{}", fmt::join(differing, ", ")));
  };
  const Cell here = settings(name, preset.train, "edelta", "gyroscope");
  const Cell paper = settings("paper", json::object(), "edelta", "gyroscope");
  compare("", here["train"], paper["train"], {"iterations", "batch", "lr", "min_lr", "warmup"});
  for (const auto& architecture : models::architectures()) {
    const std::string& model = architecture.name;
    compare(model + ": ", settings(name, preset.train, model, "gyroscope")["model"],
            settings("paper", json::object(), model, "gyroscope")["model"], {"n_layer", "n_embd"});
  }
  for (const std::string task : {"gyroscope", "stability", "near-pi", "near-pi-multi"}) {
    compare(task + ": ", settings(name, preset.train, "edelta", task)["task"],
            settings("paper", json::object(), "edelta", task)["task"],
            {"dim", "steps", "train", "val"});
  }
  return {{"preset", name}, {"train", here["train"]}, {"changes", changes}};
}

Cell differences() {
  Cell list = Cell::array();
  for (const ProtocolDifference& each : protocol_differences()) {
    list.push_back({{"matter", each.matter},
                    {"paper", each.paper},
                    {"published_code", each.published_code},
                    {"here", each.here}});
  }
  return list;
}

// How far the steps of `names` are.
Cell progress(const SuiteFolder& folder, SuiteManifest manifest,
              const std::vector<std::string>& names, const std::set<std::string>& failed) {
  manifest.names = names;
  int64_t total = 0, done = 0, failures = 0;
  double seconds = 0;  // of the trainings
  for (const Step& step : plan_steps(folder, manifest)) {
    ++total;
    const std::filesystem::path result =
        step.training ? train::RunFolder(folder.run(step.name)).result_file() : step.output;
    if (std::filesystem::exists(result)) {
      ++done;
      if (step.training) seconds += io::read_json(result).value("seconds", 0.0);
    } else if (failed.contains(step.name)) {
      ++failures;
    }
  }
  return {{"total", total}, {"done", done}, {"failed", failures}, {"seconds", seconds}};
}

}  // namespace

nlohmann::ordered_json collect_results(const std::filesystem::path& path) {
  const SuiteFolder folder(path);
  const SuiteManifest manifest = folder.read_manifest();
  RunArchive archive(folder, manifest);
  const std::vector<Experiment> chosen = select_experiments(manifest.names);
  std::set<std::string> failed;
  for (const auto& [name, reason] : folder.read_failures()) failed.insert(name);
  Cell list = Cell::array();
  for (const Experiment& experiment : chosen) {
    Cell out{{"name", experiment.name},
             {"title", experiment.title},
             {"origin", experiment.ours ? "ours" : "paper"},
             {"claim", experiment.claim},
             {"method", experiment.method}};
    std::vector<std::string> names{experiment.name};
    if (!experiment.tables.empty() && experiment.kind == Kind::training) {
      names.clear();
      for (const TrainingTable& table : experiment.tables) names.push_back(table.id);
    }
    out["runs"] = progress(folder, manifest, names, failed);
    out["tables"] = result_tables(archive, experiment);
    out["figures"] = result_figures(archive, experiment);
    list.push_back(std::move(out));
  }
  return {{"format", "edelta-results-1"},
          {"preset", manifest.preset},
          {"seeds", manifest.seeds},
          {"version", kVersion},
          {"machine", machine(archive, chosen)},
          {"runs", progress(folder, manifest, manifest.names, failed)},
          {"protocol", protocol(archive.preset())},
          {"differences", differences()},
          {"verdict_rule", verdict_rule()},
          {"experiments", list}};
}

}  // namespace edelta::experiments
