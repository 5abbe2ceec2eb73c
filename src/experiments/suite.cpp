#include "edelta/experiments/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "edelta/error.h"

namespace edelta::experiments {
namespace {

const std::vector<SuitePreset>& suite_presets() {
  static const std::vector<SuitePreset> all{
      {.name = "paper", .train_preset = "paper", .seeds = {42, 123, 456}},
      {.name = "quick", .train_preset = "quick", .seeds = {42, 123, 456}},
      // Everything once, as a test; too short to learn much.
      {.name = "smoke",
       .train_preset = "smoke",
       .train = {{"iterations", 150}},
       .comparable = false,
       .seeds = {42},
       .measurement_share = 0.1,
       .reflect_options = {"--iterations", "40", "--samples", "10,500"},
       .bench_options = {"--repetitions", "1", "--batch", "2", "--length", "32", "--compare",
                         "none"},
       .verify_options = {"--samples", "20", "--n", "2,4,8"}},
      // Small models that do learn.
      {.name = "demo",
       .train_preset = "smoke",
       .comparable = false,
       .seeds = {42},
       .reflection_operators = {"ddl", "hybrid", "jpmhc"},
       .reflect_options = {"--samples", "10,100,500"}},
  };
  return all;
}

std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const Experiment& experiment : experiments()) names.push_back(experiment.name);
  return names;
}

bool has_table(const Experiment& experiment, const std::string& id) {
  return std::any_of(experiment.tables.begin(), experiment.tables.end(),
                     [&](const TrainingTable& table) { return table.id == id; });
}

void require_known(const std::string& name) {
  const auto matches = [&](const Experiment& experiment) {
    return experiment.name == name || has_table(experiment, name);
  };
  if (name == "all" || std::any_of(experiments().begin(), experiments().end(), matches)) return;
  throw InputError(fmt::format("experiment is '{}'; it must be all or one of: {}", name,
                               fmt::join(known_names(), ", ")));
}

}  // namespace

const SuitePreset& suite_preset(const std::string& name) {
  for (const SuitePreset& preset : suite_presets()) {
    if (preset.name == name) return preset;
  }
  throw InputError(fmt::format("preset is '{}'; it must be one of: {}", name,
                               fmt::join(suite_preset_names(), ", ")));
}

std::vector<std::string> suite_preset_names() {
  std::vector<std::string> names;
  for (const SuitePreset& preset : suite_presets()) names.push_back(preset.name);
  return names;
}

std::vector<Experiment> select_experiments(const std::vector<std::string>& names) {
  for (const std::string& name : names) require_known(name);
  const std::set<std::string> wanted(names.begin(), names.end());
  std::vector<Experiment> chosen;
  for (const Experiment& experiment : experiments()) {
    Experiment part = experiment;
    if (!wanted.contains("all") && !wanted.contains(experiment.name)) {
      std::erase_if(part.tables,
                    [&](const TrainingTable& table) { return !wanted.contains(table.id); });
      if (part.tables.empty()) continue;
    }
    chosen.push_back(std::move(part));
  }
  return chosen;
}

const std::vector<ProtocolDifference>& protocol_differences() {
  static const std::vector<ProtocolDifference> all{
      {"H_pre and H_post at the start", "identity",
       "the identity is overwritten by N(0, 0.02²) when the model initialises",
       "N(0, 0.02²), because the paper's numbers come from it; the experiment projection-init has "
       "the identity"},
      {"zero-initialised routers (JPmHC, edelta-stream)", "—", "overwritten the same way",
       "N(0, 0.02²), by the same switch"},
      {"zero-initialised fused net (edelta-stream)", "—",
       "overwritten the same way, which saves it: at zero both branches are dead", "N(0, 0.02²)"},
      {"gate net", "“five 2-layer MLPs” once, σ(w·x̄ + b) elsewhere", "one linear layer",
       "one linear layer"},
      {"pooling", "mean over the sequence", "the same: sees the future",
       "the same for the paper's tables, marked there; the experiment causal has prefix and token "
       "pooling"},
      {"DDL", "adds the value term β k vᵀ in a figure", "no value term; the block adds F",
       "as the code"},
      {"gate loss of the stream model", "summed over layers", "computed, never added", "added"},
      {"near-π set sizes (training / validation)", "800 / 200", "1000 / 500", "800 / 200"},
      {"validation", "—", "40 random batches", "the whole split"},
      {"precision", "—", "bfloat16 autocast on a GPU", "float32"},
      {"dead parameters", "—", "the continuous models keep an unused wte and wpe", "not present"},
  };
  return all;
}

}  // namespace edelta::experiments
