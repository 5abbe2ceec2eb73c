// edelta data: writes a task's sequences as .npy files.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "edelta/base/error.h"
#include "edelta/data/dataset.h"
#include "edelta/data/task.h"

namespace edelta::cli {
namespace {

using nlohmann::json;

struct Options {
  std::string task, out;
  std::optional<int64_t> dim, steps, train, val;
  std::optional<double> noise;
  std::vector<double> theta;
  std::optional<std::string> planes;
  std::optional<uint64_t> seed;
  bool json_output = false;
};

data::TaskOptions task_options(const Options& options) {
  json given{{"task", options.task}};
  const auto set = [&](const char* key, const auto& value) {
    if (value) given[key] = *value;
  };
  set("dim", options.dim);
  set("steps", options.steps);
  set("train", options.train);
  set("val", options.val);
  set("noise", options.noise);
  set("planes", options.planes);
  set("seed", options.seed);
  if (options.theta.size() == 1) given["theta"] = options.theta[0];
  if (options.theta.size() == 2) given["theta"] = options.theta;
  return given.get<data::TaskOptions>();
}

void run(const Options& options) {
  const data::TaskOptions task = task_options(options);
  const data::Dataset dataset = data::generate(task);
  data::write_dataset(options.out, dataset, task);
  json written = task;
  written["folder"] = options.out;
  if (options.json_output) {
    fmt::print("{}\n", written.dump(2));
    return;
  }
  fmt::print("{}: {} training and {} validation sequences [{} × {}] in {}\n", task.task, task.train,
             task.val, task.steps, task.dim, options.out);
}

}  // namespace

void add_data(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "data", "Write a task's sequences to train_x/train_y/val_x/val_y.npy and task.json");
  auto options = std::make_shared<Options>();
  command->add_option("TASK", options->task, fmt::format("{}", fmt::join(data::task_names(), ", ")))
      ->required();
  command->add_option("--out", options->out, "Folder to write to")->required();
  command->add_option("--dim", options->dim, "Dimension of the vectors");
  command->add_option("--steps", options->steps, "Positions T of a sequence");
  command->add_option("--train", options->train, "Training sequences");
  command->add_option("--val", options->val, "Validation sequences");
  command->add_option("--theta", options->theta, "Rotation angle below π, or its range: MIN MAX")
      ->expected(1, 2);
  command->add_option("--planes", options->planes, "Planes that rotate: random, first or all");
  command->add_option("--noise", options->noise, "Standard deviation of the noise (stability)");
  command->add_option("--seed", options->seed, "Seed (default: 42)");
  command->add_flag("--json", options->json_output, "Print the options as JSON");
  command->footer(
      "The same options give the same bits on every machine.\n\nExamples:\n"
      "  edelta data gyroscope --out data/gyroscope\n"
      "  edelta data near-pi --theta 3.0 --steps 63 --out data/near-pi");
  command->callback([options] { run(*options); });
}

}  // namespace edelta::cli
