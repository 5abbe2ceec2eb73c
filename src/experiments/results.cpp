#include "edelta/experiments/results.h"

#include <fmt/format.h>

#include <set>

#include "edelta/ops/machine.h"
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
  const auto settings = [](const std::string& name, const json& train) {
    return to_json(train::train_config_from_json(
        {{"preset", name}, {"train", train}, {"task", "gyroscope"}}, name));
  };
  const Cell here = settings(preset.train_preset, preset.train);
  const Cell paper = settings("paper", json::object());
  Cell changes = Cell::array();
  for (const char* section : {"train", "model", "task"}) {
    for (const auto& [key, value] : here[section].items()) {
      const bool logging = key.ends_with("_interval");
      if (value == paper[section][key] || key == "block_size" || logging) continue;
      changes.push_back(
          fmt::format("{} {} instead of {}", key, value.dump(), paper[section][key].dump()));
    }
  }
  return {{"preset", preset.train_preset}, {"train", here["train"]}, {"changes", changes}};
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

// Steps of one experiment alone, and how far they are.
void add_progress(Cell& out, RunArchive& archive, const SuiteFolder& folder,
                  const Experiment& experiment, const std::set<std::string>& failed) {
  std::set<std::string> names;
  int64_t done = 0, failures = 0;
  double seconds = 0;
  for (const TrainingTable& table : experiment.tables) {
    for (const Variant& variant : table.variants) {
      for (const RunRecord* run : archive.runs(table, variant)) {
        if (!names.insert(run->name).second) continue;
        done += run->result ? 1 : 0;
        failures += !run->result && failed.contains(run->name) ? 1 : 0;
        if (run->result) seconds += run->result->value("seconds", 0.0);
      }
    }
  }
  if (experiment.tables.empty()) {
    SuiteManifest alone = archive.manifest();
    alone.names = {experiment.name};
    for (const Step& step : plan_steps(folder, alone)) {
      names.insert(step.name);
      const bool there = std::filesystem::exists(step.output);
      done += there ? 1 : 0;
      failures += !there && failed.contains(step.name) ? 1 : 0;
    }
  }
  out["runs"] = {{"total", names.size()}, {"done", done}, {"failed", failures}};
  out["seconds"] = seconds;
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
    add_progress(out, archive, folder, experiment, failed);
    out["tables"] = result_tables(archive, experiment);
    out["figures"] = result_figures(archive, experiment);
    list.push_back(std::move(out));
  }
  return {{"format", "edelta-results-1"},
          {"preset", manifest.preset},
          {"seeds", manifest.seeds},
          {"version", kVersion},
          {"machine", machine(archive, chosen)},
          {"protocol", protocol(archive.preset())},
          {"differences", differences()},
          {"verdict_rule", verdict_rule()},
          {"experiments", list}};
}

}  // namespace edelta::experiments
