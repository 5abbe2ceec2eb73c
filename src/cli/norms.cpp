// edelta norms: does a trained model preserve the length of what it predicts?
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/run_options.h"
#include "edelta/base/error.h"
#include "edelta/probes/probes.h"

namespace edelta::cli {
namespace {

struct Options : RunOptions {
  probes::NormProbeOptions probe;
};

void run(const Options& options) {
  const auto model = options.model();
  const auto& [sequences, positions, seed] = options.probe;
  if (positions > model->config().block_size) {
    throw InputError(fmt::format("--positions is {}; the model sees at most {}", positions,
                                 model->config().block_size));
  }
  const probes::NormProbe probe = probe_norms(*model, options.probe);
  if (options.json) {
    fmt::print("{}\n", to_json(probe, options.probe, options.run).dump(2));
    return;
  }
  fmt::print("{} random sequences of {} unit vectors\n", sequences, positions);
  fmt::print("norm deviation (mean over positions of |mean norm − 1|): {:.4f}\n",
             probe.norm_deviation);
  fmt::print("mean norm at position {}: {:.4f}\n", positions, probe.last_norm);
}

}  // namespace

void add_norms(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("norms", "Probe how a run's model preserves the norm of unit vectors");
  auto options = std::make_shared<Options>();
  add_run_options(*command, *options);
  command->add_option("--sequences", options->probe.sequences, "Random sequences")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  command->add_option("--positions", options->probe.positions, "Positions of each")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", options->probe.seed, "Seed of the sequences")
      ->capture_default_str();
  command->footer("Example:\n  edelta norms runs/mine");
  command->callback([options] { run(*options); });
}

}  // namespace edelta::cli
