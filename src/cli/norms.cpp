// edelta norms: does a trained model preserve the length of what it predicts?
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "cli/run_options.h"
#include "edelta/probes/probes.h"

namespace edelta::cli {
namespace {

struct NormsOptions : RunOptions {
  probes::NormProbeOptions probe;
  std::optional<int64_t> positions;
};

void run_norms(NormsOptions options) {
  const auto model = options.model();
  options.probe.positions =
      options.positions.value_or(std::min(options.probe.positions, model->config().block_size));
  ProgressLine progress;
  progress.show({fmt::format("{} sequences", options.probe.sequences)});
  const probes::NormProbe probe = probe_norms(*model, options.probe);
  progress.erase();
  if (options.json) {
    print_json(to_json(probe, options.probe, options.run));
    return;
  }
  const size_t positions = probe.mean_norm.size();
  fmt::print("{} random sequences of {} unit vectors\n", options.probe.sequences, positions);
  fmt::print("norm deviation (mean over positions of |mean norm − 1|): {:.4f}\n",
             probe.norm_deviation);
  fmt::print("mean norm at position {}: {:.4f}\n", positions, probe.last_norm);
}

}  // namespace

void add_norms(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("norms", "Probe how a run's model preserves the norm of unit vectors");
  auto options = std::make_shared<NormsOptions>();
  add_run_options(*command, *options);
  command->add_option("--sequences", options->probe.sequences, "Random sequences")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  command
      ->add_option("--positions", options->positions,
                   "Positions of each (default: 100, at most the model's block)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--seed", options->probe.seed, "Seed of the sequences")
      ->check(kSeed)
      ->capture_default_str();
  command->footer("Example:\n  edelta norms runs/mine");
  command->callback([options] { run_norms(*options); });
}

}  // namespace edelta::cli
