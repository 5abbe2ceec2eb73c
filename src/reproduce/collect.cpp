#include "reproduce/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "edelta/base/machine.h"
#include "edelta/train/run_folder.h"
#include "edelta/version.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/plan.h"
#include "reproduce/run_archive.h"

namespace edelta::reproduce {
namespace {

// All finished trainings of the experiments.
std::vector<const RunRecord*> finished_runs(RunArchive& archive,
                                            const std::vector<Experiment>& chosen) {
  std::vector<const RunRecord*> found;
  for (const Experiment& experiment : chosen) {
    for (const TrainingTable& table : experiment.trainings) {
      for (const Variant& variant : table.variants) {
        std::ranges::copy(archive.finished(table, variant), std::back_inserter(found));
      }
    }
  }
  return found;
}

// The machine of the trainings; without any, this one. A folder may hold the runs of several:
// each fact then names all that it was.
MachineSummary machine_of(RunArchive& archive, const std::vector<Experiment>& chosen) {
  const std::vector<const RunRecord*> runs = finished_runs(archive, chosen);
  const auto named = [&](const auto fact) {
    std::set<std::string> values;
    for (const RunRecord* run : runs) values.insert(run->outcome->machine.*fact);
    values.erase("");  // not known
    return fmt::format("{}", fmt::join(values, " and "));
  };
  if (runs.empty()) {
    MachineSummary machine = summarise_machine(base::describe_machine());
    machine.threads = {archive.manifest().threads};
    return machine;
  }
  std::set<int64_t> threads;
  for (const RunRecord* run : runs) {
    threads.insert(run->outcome->machine.threads.begin(), run->outcome->machine.threads.end());
  }
  return {.cpu = named(&MachineSummary::cpu),
          .threads = {threads.begin(), threads.end()},
          .isa = named(&MachineSummary::isa),
          .blas = named(&MachineSummary::blas),
          .libtorch = named(&MachineSummary::libtorch),
          .edelta = named(&MachineSummary::edelta)};
}

Progress progress(const std::vector<Step>& steps, const std::set<std::string>& failed) {
  Progress progress{.total = static_cast<int64_t>(steps.size())};
  for (const Step& step : steps) {
    const Training* training = step.training();
    const std::filesystem::path result =
        training ? train::RunFolder(training->folder).result_file() : step.measurement()->file;
    if (std::filesystem::exists(result)) {
      ++progress.done;
      if (training) progress.seconds += training_seconds(result);
    } else if (failed.contains(step.name)) {
      ++progress.failed;
    }
  }
  return progress;
}

ExperimentResult result_of(const Experiment& experiment, RunArchive& archive) {
  ExperimentResult result{.name = experiment.name,
                          .title = experiment.title,
                          .ours = experiment.ours,
                          .claim = experiment.claim,
                          .method = experiment.method};
  if (experiment.scope) result.method += " " + experiment.scope(experiment, archive);
  if (experiment.tables) result.tables = experiment.tables(experiment, archive);
  if (experiment.figures) result.figures = experiment.figures(experiment, archive);
  if (experiment.samples) result.samples = experiment.samples(experiment, archive);
  std::erase_if(result.figures, [](const Figure& figure) { return figure.panels.empty(); });
  return result;
}

}  // namespace

Results collect_results(const std::filesystem::path& path) {
  const SuiteFolder folder(path);
  const SuiteManifest manifest = folder.read_manifest();
  RunArchive archive(folder, manifest);
  const std::vector<Experiment> chosen = select_experiments(manifest.names);
  std::set<std::string> failed;
  for (const auto& [name, reason] : folder.read_failures()) failed.insert(name);
  const MachineSummary machine = machine_of(archive, chosen);
  Results results{.preset = manifest.preset,
                  .seeds = manifest.seeds,
                  .version = machine.edelta.empty() ? kVersion : machine.edelta,
                  .machine = machine,
                  .runs = progress(plan_steps(folder, manifest, chosen), failed),
                  .protocol = summarise_protocol(archive.preset(), chosen),
                  .differences = protocol_differences(),
                  .verdict_rule = verdict_rule(),
                  .experiments = {}};
  for (const Experiment& experiment : chosen) {
    results.experiments.push_back(result_of(experiment, archive));
    results.experiments.back().runs = progress(plan_steps(folder, manifest, {experiment}), failed);
  }
  return results;
}

}  // namespace edelta::reproduce
