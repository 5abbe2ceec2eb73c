// edelta depth: what becomes of signal and gradient as layers are added.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/machine_options.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "cli/setting_flags.h"
#include "cli/table.h"
#include "edelta/data/task.h"
#include "edelta/probes/depth.h"
#include "edelta/train/config.h"

namespace edelta::cli {
namespace {

using probes::DepthProfile;
using probes::DepthRun;

struct DepthOptions {
  probes::DepthProbeOptions probe;
  bool json = false;
};

std::vector<std::string> progress_parts(const probes::DepthProgress& progress) {
  std::vector<std::string> parts{fmt::format("{} of {}", progress.done + 1, progress.runs),
                                 fmt::format("{} with {} layers", progress.model, progress.layers)};
  if (progress.iterations > 0) {
    parts.push_back(fmt::format("iteration {}/{}", progress.iteration, progress.iterations));
  }
  return parts;
}

// From the first layer to the last.
std::string ends_text(const std::vector<double>& curve) {
  return curve.empty() ? "-" : fmt::format("{:.3f} → {:.3f}", curve.front(), curve.back());
}

std::vector<std::string> row(const DepthRun& run, const DepthProfile& profile) {
  return {run.model,
          std::to_string(run.layers),
          fmt::format("{:.3g}", profile.signal.back()),
          fmt::format("{:.3g}", profile.gradient.front()),
          ends_text(profile.token_cosine),
          ends_text(profile.stream_cosine),
          profile.product ? fmt::format("{:.3g} … {:.3g}", profile.product->smallest_singular,
                                        profile.product->largest_singular)
                          : "-",
          fmt::format("{:.3e}", profile.loss)};
}

// At the start, or after the training.
std::string table(const std::vector<DepthRun>& runs, bool trained) {
  Table table({{"model"},
               {"layers", Align::right},
               {"signal", Align::right},
               {"gradient", Align::right},
               {"tokens alike", Align::right},
               {"streams alike", Align::right},
               {"product σ", Align::right},
               {"loss", Align::right}});
  for (const DepthRun& run : runs) table.add(row(run, trained ? *run.trained : run.start));
  return table.text();
}

void run_depth(DepthOptions options) {
  ProgressLine progress;
  options.probe.on_progress = [&](const probes::DepthProgress& now) {
    progress.show(progress_parts(now));
  };
  const std::vector<DepthRun> runs = probe_depth(options.probe);
  progress.erase();
  if (options.json) {
    print_json(to_json(runs, options.probe));
    return;
  }
  fmt::print("At the initial weights:\n\n{}", table(runs, /*trained=*/false));
  if (options.probe.iterations > 0) {
    fmt::print("\nAfter {} iterations:\n\n{}", options.probe.iterations,
               table(runs, /*trained=*/true));
  }
  fmt::print(
      "\nSignal: ‖x_L‖/‖x_0‖ of the residual stream. Gradient: ‖∂loss/∂x_0‖/‖∂loss/∂x_L‖. Alike: "
      "mean cosine between tokens of a\nsequence, between streams of a token, from the first layer "
      "to the last; 1 is collapse. Product σ: smallest and\nlargest singular value of all "
      "operators "
      "on streams, multiplied. Loss: over the validation split.\n");
}

}  // namespace

void add_depth(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("depth", "Probe what becomes of signal and gradient as layers are added");
  auto options = std::make_shared<DepthOptions>();
  probes::DepthProbeOptions& probe = options->probe;
  command->add_option("--models", probe.models, "Architectures, comma-separated (default: all)")
      ->delimiter(',');
  command->add_option("--layers", probe.layers, "Depths, comma-separated")
      ->delimiter(',')
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  command
      ->add_option("--task", probe.task,
                   fmt::format("Task to look at: {}", fmt::join(data::task_names(), ", ")))
      ->check(kNotEmpty)
      ->capture_default_str();
  command
      ->add_option("--preset", probe.preset,
                   "Preset of train: the task's sizes and the protocol; width is the same for all")
      ->check(kNotEmpty)
      ->capture_default_str();
  command
      ->add_option("--iterations", probe.iterations,
                   "Train so long, and look again; 0: look at the initial weights alone")
      ->check(CLI::Range(int64_t{0}, int64_t{1'000'000'000}))
      ->capture_default_str();
  command->add_option("--sequences", probe.sequences, "Validation sequences to look at")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->add_option("--seed", probe.seed, "Seed of weights, batches and dropout")
      ->check(kSeed)
      ->capture_default_str();
  for (const train::Setting& setting : train::settings()) {
    const std::string section = setting.section;
    if (section == "train" || std::string(setting.field.key) == "n_layer") continue;
    nlohmann::json& into = section == "model" ? probe.model_settings : probe.task_settings;
    CLI::Option* flag = add_field_flag(*command, setting.field, into);
    flag->group("Settings: " + section);
    const auto own = into.find(setting.field.key);
    const std::string value = own != into.end() ? own->dump() : setting.default_value;
    if (!value.empty()) flag->default_str(value);
  }
  add_machine_options(*command);
  command->add_flag("--json", options->json, "Print JSON, with the curves over all layers");
  command->footer(
      "A setting goes to those of the models that have it.\n\n"
      "Examples:\n"
      "  edelta depth\n"
      "  edelta depth --models gpt,edelta --branch cayley --layers 6,24\n"
      "  edelta depth --models edelta --layers 24 --iterations 200 --json");
  command->callback([options] { run_depth(*options); });
}

}  // namespace edelta::cli
