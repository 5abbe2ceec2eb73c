#include "reproduce/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "edelta/base/error.h"
#include "edelta/models/parameter_count.h"
#include "edelta/models/recursive.h"
#include "edelta/models/registry.h"

namespace edelta::reproduce {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

ComparedRun read_run(const fs::path& folder) {
  ComparedRun run;
  run.log = read_log(train::RunFolder(folder));
  run.overview = read_overview(folder, run.log);
  const train::TrainConfig& config = run.overview.config;
  if (config.recursive) {
    run.parameters = models::count_parameters(config.recursive->model);
    return run;
  }
  const models::ModelConfig& model = config.model;
  run.parameters = models::count_parameters(model);
  run.sees_future = !models::find_architecture(model.model).causal(model);
  return run;
}

// The folder's own name, or the path as it was given where two runs share that.
void name_runs(std::vector<ComparedRun>& runs) {
  std::multiset<std::string> names;
  for (ComparedRun& run : runs) {
    run.name = display_name(fs::weakly_canonical(run.overview.folder).filename());
    names.insert(run.name);
  }
  for (ComparedRun& run : runs) {
    if (names.count(run.name) > 1) run.name = display_name(run.overview.folder);
  }
}

void refuse_repetitions(const std::vector<fs::path>& folders) {
  std::set<fs::path> seen;
  for (const fs::path& folder : folders) {
    if (!seen.insert(fs::weakly_canonical(folder)).second) {
      throw InputError(fmt::format("{} is given twice", display_name(folder)));
    }
  }
}

// By "section.key", or by the section alone where that is a name: of the model, the task.
std::map<std::string, std::string> settings_of(const RunOverview& run) {
  std::map<std::string, std::string> settings;
  const auto add = [&](const std::string& key, const json& value) {
    settings[key] = value.is_string() ? display_name(value.get<std::string>()) : value.dump();
  };
  const json config = to_json(run.config);
  for (const auto& [section, content] : config.items()) {
    if (!content.is_object()) {
      add(section, content);
      continue;
    }
    for (const auto& [key, value] : content.items()) {
      add(key == section ? section : section + "." + key, value);
    }
  }
  return settings;
}

std::vector<DifferingSetting> differing_settings(const std::vector<ComparedRun>& runs) {
  std::vector<std::map<std::string, std::string>> settings;
  std::set<std::string> keys;
  for (const ComparedRun& run : runs) {
    settings.push_back(settings_of(run.overview));
    for (const auto& [key, value] : settings.back()) keys.insert(key);
  }
  std::vector<DifferingSetting> differing;
  for (const std::string& key : keys) {
    std::vector<std::string> values;
    for (const auto& each : settings) {
      const auto found = each.find(key);
      values.push_back(found == each.end() ? "–" : found->second);
    }
    if (std::set<std::string>(values.begin(), values.end()).size() > 1) {
      differing.push_back({key, std::move(values)});
    }
  }
  return differing;
}

// What a run learns from: a task with its options, or a folder.
json data_of(const RunOverview& run) {
  const json config = to_json(run.config);
  for (const char* generated : {"task", "puzzles"}) {
    if (config.contains(generated)) return config[generated];
  }
  return config["data"];
}

std::vector<std::string> notes_on(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> notes;
  const bool same = std::all_of(runs.begin(), runs.end(), [&](const ComparedRun& run) {
    return data_of(run.overview) == data_of(runs.front().overview);
  });
  if (!same) {
    notes.emplace_back("The runs were trained on different data; their losses do not compare.");
  }
  return notes;
}

}  // namespace

Comparison compare_runs(const std::vector<fs::path>& folders) {
  refuse_repetitions(folders);
  Comparison comparison;
  for (const fs::path& folder : folders) comparison.runs.push_back(read_run(folder));
  name_runs(comparison.runs);
  comparison.settings = differing_settings(comparison.runs);
  comparison.notes = notes_on(comparison.runs);
  return comparison;
}

}  // namespace edelta::reproduce
