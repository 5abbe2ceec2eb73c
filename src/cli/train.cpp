// edelta train: trains a model on a task or on the user's own sequences, and continues runs.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/interrupted.h"
#include "cli/machine_options.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/train/trainer.h"

namespace edelta::cli {
namespace {

using nlohmann::json;
using train::RunFolder;
using train::StepReport;

volatile std::sig_atomic_t received_signal = 0;

struct Options {
  std::string model, task, data, preset, config, out, resume;
  json settings = json::object();
  bool json_output = false;
};

// A flag's text as the JSON value it stands for: a number, a list, true, or else a word.
json value_of(const std::string& text) {
  json value = json::parse(text, nullptr, /*allow_exceptions=*/false);
  return value.is_discarded() || value.is_object() ? json(text) : value;
}

// What a section says, as an object: a bare name stands for {key: name}.
json& section(json& config, const char* key) {
  json& found = config[key];
  if (found.is_string()) found = {{key, found}};
  return found;
}

train::TrainConfig configuration(const Options& options) {
  json given = options.config.empty() ? json::object() : base::read_json(options.config);
  if (!given.is_object()) throw InputError(options.config + ": must be a JSON object");
  if (!options.preset.empty()) given["preset"] = options.preset;
  if (!options.data.empty()) {
    given["data"] = options.data;
    given.erase("task");
  }
  if (!options.task.empty()) {
    // Another task than the file's has other options.
    given["task"] = {{"task", options.task}};
    given.erase("data");
  }
  if (!options.model.empty()) section(given, "model")["model"] = options.model;
  for (const auto& [name, values] : options.settings.items()) {
    for (const auto& [key, value] : values.items()) section(given, name.c_str())[key] = value;
  }
  return train::train_config_from_json(given, options.config.empty() ? "options" : options.config);
}

std::filesystem::path free_folder(const train::TrainConfig& config) {
  const std::string source =
      config.task ? config.task->task : std::filesystem::path(config.data).filename().string();
  const std::filesystem::path wanted = fmt::format("runs/{}-{}-{}-seed{}", config.model.model,
                                                   source, config.preset, config.train.seed);
  std::filesystem::path path = wanted;
  for (int i = 2; std::filesystem::exists(path); ++i)
    path = fmt::format("{}-{}", wanted.string(), i);
  return path;
}

// One line that is rewritten on a terminal; plain lines now and then elsewhere.
class ProgressLine {
 public:
  void operator()(const StepReport& report) {
    const bool last = report.iteration == report.iterations;
    const auto now = Clock::now();
    const double pause = terminal_ ? 0.2 : 10;
    if (!last && std::chrono::duration<double>(now - shown_).count() < pause) return;
    shown_ = now;
    std::string line = fmt::format("{:>6}/{}  loss {:.3e}", report.iteration, report.iterations,
                                   report.train_loss);
    if (report.val_loss) line += fmt::format("  val {:.3e}", *report.val_loss);
    if (!report.gates.empty()) line += "  γ " + gates(report.gates);
    line += fmt::format("  {:.0f} tokens/s  {} left", report.tokens_per_second,
                        duration(report.seconds_left));
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r\033[K" : "", line, terminal_ ? "" : "\n");
    std::fflush(stderr);
    open_ = terminal_;
  }
  void finish() {
    if (open_) fmt::print(stderr, "\n");
    open_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  static std::string gates(const std::vector<double>& values) {
    std::string text;
    for (const double value : values)
      text += fmt::format("{}{:.2f}", text.empty() ? "" : " ", value);
    return text;
  }

  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool open_ = false;
  Clock::time_point shown_{};
};

void print_result(const RunFolder& run, const json& result, bool as_json) {
  if (as_json) {
    json out = result;
    out["run"] = run.path().string();
    fmt::print("{}\n", out.dump(2));
    return;
  }
  const auto number = [&](const char* key) { return result[key].get<double>(); };
  fmt::print(
      "validation loss: {:.4e} at the start, {:.4e} at best (iteration {}), {:.4e} at the end\n",
      number("initial_val_loss"), number("best_val_loss"), result["best_iteration"].get<int64_t>(),
      number("final_val_loss"));
  for (const auto& [name, loss] : result["strata"].items()) {
    fmt::print("  {}: {:.4e}\n", name, loss.get<double>());
  }
  fmt::print("{} parameters, {} of training; everything is in {}\n",
             result["parameters"].get<int64_t>(), duration(number("seconds")), run.path().string());
}

void run(const Options& options) {
  if (!options.resume.empty() &&
      (!options.settings.empty() || !options.model.empty() || !options.task.empty() ||
       !options.config.empty() || !options.data.empty() || !options.preset.empty())) {
    throw InputError("--resume continues a run as it was configured; it takes no other setting");
  }
  if (const auto warning = base::blas_warning()) fmt::print(stderr, "{}\n", *warning);
  RunFolder folder(options.resume);
  std::optional<data::Dataset> dataset;
  if (options.resume.empty()) {
    train::TrainConfig config = configuration(options);
    // A user's files are looked at before anything is written, and not again.
    if (!config.data.empty()) {
      dataset = load_data(config);
      fit_model_to_data(config, *dataset);
    }
    folder = RunFolder(options.out.empty() ? free_folder(config).string() : options.out);
    folder.create(config);
  }
  fmt::print(stderr, "run folder: {}\n", folder.path().string());

  std::signal(SIGINT, [](int signal) { received_signal = signal; });
  std::signal(SIGTERM, [](int signal) { received_signal = signal; });
  ProgressLine progress;
  const train::TrainOptions watching{
      .on_step = [&](const StepReport& report) { progress(report); },
      .stop_signal = [] { return static_cast<int>(received_signal); }};
  const train::TrainOutcome outcome = dataset ? train::train(folder, std::move(*dataset), watching)
                                              : train::train(folder, watching);
  progress.finish();
  if (outcome.stopped_by != 0) {
    fmt::print(stderr, "stopped; continue with: edelta train --resume {}\n",
               folder.path().string());
    throw Interrupted(outcome.stopped_by);
  }
  print_result(folder, outcome.result, options.json_output);
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("train", "Train a model; every run is a folder that can be resumed");
  auto options = std::make_shared<Options>();
  command->add_option("--model", options->model, "Architecture (default: edelta)");
  command->add_option("--task", options->task, "Generated task, see edelta data --help");
  command
      ->add_option("--data", options->data,
                   "Folder with train_x.npy, train_y.npy, val_x.npy, val_y.npy")
      ->excludes("--task");
  std::string presets;
  for (const auto& preset : train::presets()) {
    presets += fmt::format("\n{}: {}", preset.name, preset.summary);
  }
  command->add_option("--preset", options->preset,
                      "Settings to start from (default: paper)" + presets);
  command->add_option("--config", options->config, "JSON file with settings; flags win");
  command->add_option("--out", options->out, "Run folder (default: runs/MODEL-TASK-PRESET-seedN)");
  command->add_option("--resume", options->resume, "Continue the run in this folder")
      ->excludes("--out");
  for (const train::Setting& setting : train::settings()) {
    command
        ->add_option_function<std::string>(
            setting.field.flag_name(),
            [options, setting](const std::string& text) {
              options->settings[setting.section][setting.field.key] = value_of(text);
            },
            setting.field.help)
        ->group(std::string("Settings: ") + setting.section);
  }
  add_machine_options(*command);
  command->add_flag("--json", options->json_output, "Print the result as JSON");
  command->footer(
      "Ctrl-C finishes the step, saves and says how to resume.\n\nExamples:\n"
      "  edelta train --model edelta --task stability --preset smoke\n"
      "  edelta train --model gpt --task gyroscope --seed 123 --out runs/mine\n"
      "  edelta train --model edelta --pool prefix --data my-sequences --iterations 500\n"
      "  edelta train --resume runs/mine");
  command->callback([options] { run(*options); });
}

}  // namespace edelta::cli
