// edelta reflect: the reflection probe, operators alone asked to learn x → −x.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/atomic_file.h"
#include "base/json.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/machine_options.h"
#include "cli/new_file.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "cli/table.h"
#include "edelta/base/machine.h"
#include "edelta/probes/reflection.h"
#include "edelta/probes/reflection_probe.h"
#include "reproduce/statistics.h"

namespace edelta::cli {
namespace {

using probes::ReflectionPoint;
using probes::ReflectionRun;

struct ReflectOptions {
  probes::ReflectionProbeOptions probe;
  std::string out;
  bool force = false;
  bool json = false;
};

// Mean ± sample standard deviation over seeds.
std::string over_seeds(const std::vector<ReflectionRun>& runs, double ReflectionPoint::* member) {
  std::vector<double> values;
  for (const ReflectionRun& run : runs) values.push_back(run.final().*member);
  const auto [mean, std, n] = *reproduce::statistics(values);
  return n < 2 ? fmt::format("{:.3f}", mean) : fmt::format("{:.3f} ± {:.3f}", mean, std);
}

std::string table(const std::vector<ReflectionRun>& runs) {
  Table table({{"operator"},
               {"samples", Align::right},
               {"β", Align::right},
               {"γ", Align::right},
               {"alignment", Align::right},
               {"converged", Align::right}});
  for (size_t begin = 0; begin < runs.size();) {
    size_t end = begin;
    while (end < runs.size() && runs[end].name == runs[begin].name &&
           runs[end].samples == runs[begin].samples) {
      ++end;
    }
    const std::vector<ReflectionRun> group(runs.begin() + static_cast<std::ptrdiff_t>(begin),
                                           runs.begin() + static_cast<std::ptrdiff_t>(end));
    const ReflectionRun& first = group.front();
    const auto converged =
        std::count_if(group.begin(), group.end(), [](const auto& run) { return run.converged(); });
    table.add(
        {first.name, std::to_string(first.samples),
         first.has_beta ? over_seeds(group, &ReflectionPoint::beta) : "-",
         first.has_gamma ? over_seeds(group, &ReflectionPoint::gamma) : "-",
         over_seeds(group, &ReflectionPoint::alignment),
         first.has_beta || first.has_gamma ? fmt::format("{}/{}", converged, group.size()) : "-"});
    begin = end;
  }
  return table.text();
}

// A repetition of the same would count as one more.
template <class T>
void keep_first_of_each(std::vector<T>& values) {
  std::vector<T> kept;
  for (const T& value : values) {
    if (std::find(kept.begin(), kept.end(), value) == kept.end()) kept.push_back(value);
  }
  values = kept;
}

void run_reflect(ReflectOptions options) {
  keep_first_of_each(options.probe.operators);
  keep_first_of_each(options.probe.samples);
  keep_first_of_each(options.probe.seeds);
  // Opened before the trainings: where it cannot be written, they would be in vain.
  std::optional<base::AtomicFile> file;
  if (!options.out.empty()) {
    require_new(options.out, options.force);
    file.emplace(options.out);
  }
  options.probe.workers = base::threads();
  ProgressLine progress;
  options.probe.on_progress = [&](int64_t done, int64_t total) {
    progress.show({fmt::format("{} of {} trainings", done, total)});
  };
  const auto runs = probes::probe_reflection(options.probe);
  progress.erase();
  const nlohmann::ordered_json result = probes::to_json(runs, options.probe);
  if (file) {
    const std::string text = base::json_text(result, 2) + "\n";
    file->write(text.data(), text.size());
    file->commit();
  }
  if (options.json) {
    print_json(result);
    return;
  }
  fmt::print(
      "{}\nAlignment: mean cosine between output and −x on 500 samples that were not seen; "
      "1 is −x, −1 is x.\nConverged: γ < 0.1 where there is a gate, else β > 1.9.\n",
      table(runs));
}

}  // namespace

void add_reflect(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "reflect", "Probe which operators, alone, learn the reflection x → −x from few samples");
  auto options = std::make_shared<ReflectOptions>();
  command
      ->add_option(
          "--operators", options->probe.operators,
          fmt::format("Of {} (default: all)", fmt::join(probes::reflection_operator_names(), ", ")))
      ->delimiter(',');
  command->add_option("--samples", options->probe.samples, "Sizes of the training set")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--seeds", options->probe.seeds, "Seeds")
      ->delimiter(',')
      ->check(kSeed)
      ->capture_default_str();
  command->add_option("--iterations", options->probe.iterations, "Optimiser steps")
      ->capture_default_str();
  command->add_option("--out", options->out, "Also write the result, with trajectories, as JSON")
      ->type_name("FILE")
      ->check(kNotEmpty);
  command->add_flag("--force", options->force, "Overwrite the file");
  add_machine_options(*command);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Examples:\n"
      "  edelta reflect\n"
      "  edelta reflect --operators ddl,hybrid --samples 100,500 --seeds 42\n"
      "  edelta reflect --out reflection.json");
  command->callback([options] { run_reflect(*options); });
}

}  // namespace edelta::cli
