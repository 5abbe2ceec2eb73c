// edelta data: writes a task's sequences as .npy files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/print_json.h"
#include "cli/setting_flags.h"
#include "edelta/data/dataset.h"
#include "edelta/data/task.h"

namespace edelta::cli {
namespace {

using nlohmann::json;

struct DataOptions {
  std::string task, out;
  json settings = json::object();
  bool force = false;
  bool json_output = false;
};

void run_data(const DataOptions& options) {
  json given = options.settings;
  given["task"] = options.task;
  const auto task = given.get<data::TaskOptions>();
  data::require_free(options.out, options.force);
  data::write_dataset(options.out, data::generate(task), task, options.force);
  json written = task;
  written["folder"] = options.out;
  if (options.json_output) {
    print_json(written);
    return;
  }
  fmt::print("{}: {} training and {} validation sequences [{} × {}] in {}\n", task.task, task.train,
             task.val, task.steps, task.dim, options.out);
}

}  // namespace

void add_data(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "data", "Write a task's sequences to train_x/train_y/val_x/val_y.npy and task.json");
  auto options = std::make_shared<DataOptions>();
  command->add_option("TASK", options->task, fmt::format("{}", fmt::join(data::task_names(), ", ")))
      ->required()
      ->check(kNotEmpty);
  command->add_option("--out", options->out, "Folder to write to")->required()->check(kNotEmpty);
  // Named as in edelta train, but for what is clear without its longer name here.
  for (const Field& field : data::task_fields()) {
    const std::string key = field.key;
    const bool clear = key == "train" || key == "val" || key == "seed";
    add_field_flag(*command, field, options->settings, clear ? "--" + key : "");
  }
  command->add_flag("--force", options->force, "Replace the data that is there");
  command->add_flag("--json", options->json_output, "Print the options as JSON");
  command->footer(
      "The same options give the same bits on every machine.\n\nExamples:\n"
      "  edelta data gyroscope --out data/gyroscope\n"
      "  edelta data near-pi --theta 3.0 --steps 63 --out data/near-pi");
  command->callback([options] { run_data(*options); });
}

}  // namespace edelta::cli
