// edelta norms: does a trained model preserve the length of what it predicts?
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/run_options.h"
#include "edelta/error.h"
#include "edelta/experiments/probes.h"

namespace edelta::cli {
namespace {

struct Options : RunOptions {
  int64_t sequences = 50;
  int64_t positions = 100;
  uint64_t seed = 42;
};

void run(const Options& options) {
  const auto model = options.model();
  if (options.positions > model->config().block_size) {
    throw InputError(fmt::format("--positions is {}; the model sees at most {}", options.positions,
                                 model->config().block_size));
  }
  const experiments::NormProbe probe =
      experiments::probe_norms(*model, options.sequences, options.positions, options.seed);
  if (options.json) {
    const nlohmann::ordered_json out{{"run", options.run},
                                     {"sequences", options.sequences},
                                     {"norm_deviation", probe.norm_deviation},
                                     {"last_norm", probe.last_norm},
                                     {"mean_norm", probe.mean_norm},
                                     {"deviation", probe.deviation}};
    fmt::print("{}\n", out.dump(2));
    return;
  }
  fmt::print("{} random sequences of {} unit vectors\n", options.sequences, options.positions);
  fmt::print("norm deviation (mean over positions of |mean norm − 1|): {:.4f}\n",
             probe.norm_deviation);
  fmt::print("mean norm at position {}: {:.4f}\n", options.positions, probe.last_norm);
}

}  // namespace

void add_norms(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("norms", "Probe how a run's model preserves the norm of unit vectors");
  auto options = std::make_shared<Options>();
  add_run_options(*command, *options);
  command->add_option("--sequences", options->sequences, "Random sequences")
      ->check(CLI::Range(2, 1000000))
      ->capture_default_str();
  command->add_option("--positions", options->positions, "Positions of each")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the sequences")->capture_default_str();
  command->footer("Example:\n  edelta norms runs/mine");
  command->callback([options] { run(*options); });
}

}  // namespace edelta::cli
