// edelta baselines: what predictors without training reach on a task or on one's own sequences.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/print_json.h"
#include "cli/setting_flags.h"
#include "cli/table.h"
#include "data/data_kind.h"
#include "edelta/base/error.h"
#include "edelta/data/dataset.h"
#include "edelta/data/task.h"
#include "edelta/probes/baselines.h"

namespace edelta::cli {
namespace {

struct BaselinesOptions {
  std::string task, folder;
  nlohmann::json settings = nlohmann::json::object();
  bool json = false;
};

data::Dataset load(const BaselinesOptions& options) {
  if (options.task.empty() == options.folder.empty()) {
    throw InputError(fmt::format("either a task ({}) or --data is to be given",
                                 fmt::join(data::task_names(), ", ")));
  }
  if (options.folder.empty()) {
    nlohmann::json given = options.settings;
    given["task"] = options.task;
    return data::generate(given.get<data::TaskOptions>());
  }
  if (!options.settings.empty()) {
    throw InputError(fmt::format("{} is a setting of tasks; --data has sequences of its own",
                                 options.settings.begin().key()));
  }
  data::require_kind(options.folder, data::DataKind::sequences);
  return data::read_dataset(options.folder);
}

void run_baselines(const BaselinesOptions& options) {
  const std::vector<probes::Baseline> baselines = probes::measure_baselines(load(options));
  if (options.json) return print_json(to_json(baselines));
  Table table({{"prediction"}, {"validation loss", Align::right}});
  for (const probes::Baseline& each : baselines) {
    table.add({each.name, fmt::format("{:.4e}", each.loss)});
  }
  fmt::print("{}", table.text());
}

}  // namespace

void add_baselines(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "baselines", "Show what predictors without training reach: what a model has to beat");
  auto options = std::make_shared<BaselinesOptions>();
  command->add_option("TASK", options->task,
                      fmt::format("{}", fmt::join(data::task_names(), ", ")));
  command->add_option("--data", options->folder, "A folder of sequences, as edelta train takes it");
  for (const Field& field : data::task_fields()) add_field_flag(*command, field, options->settings);
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Mean squared error over the validation sequences. The linear maps are those of least "
      "squares\n"
      "over the training sequences; the last input of the first position is 0.\n\nExamples:\n"
      "  edelta baselines stability\n"
      "  edelta baselines --data my-sequences");
  command->callback([options] { run_baselines(*options); });
}

}  // namespace edelta::cli
