// edelta rollout: feeds a model's predictions back for as long as one likes.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/notice.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "cli/run_options.h"
#include "cli/table.h"
#include "edelta/probes/probes.h"

namespace edelta::cli {
namespace {

struct RolloutOptions : RunOptions {
  probes::RolloutOptions rollout;
};

void run_rollout(RolloutOptions options, bool trajectories_asked) {
  const auto model = options.model();
  options.rollout.data = options.data;
  ProgressLine progress;
  progress.show({"the true trajectories"});
  options.rollout.on_step = [&](int64_t step) {
    progress.show({fmt::format("step {} of {}", step, options.rollout.steps)});
  };
  const probes::Rollout rollout =
      probes::roll_out(*model, options.folder().read_manifest(), options.rollout);
  progress.erase();
  if (trajectories_asked && rollout.trajectories < options.rollout.trajectories) {
    notice("note: the data have {} validation trajectories; all of them are taken\n",
           rollout.trajectories);
  }
  if (options.json) {
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const auto& point : rollout.points) {
      nlohmann::ordered_json entry{{"step", point.step},
                                   {"mean_norm", point.mean_norm},
                                   {"largest_norm", point.largest_norm}};
      if (point.error) entry["error"] = *point.error;
      points.push_back(entry);
    }
    const nlohmann::ordered_json out{{"run", options.run},
                                     {"context", rollout.context},
                                     {"trajectories", rollout.trajectories},
                                     {"points", points}};
    print_json(out);
    return;
  }
  fmt::print("{} trajectories, context {}\n\n", rollout.trajectories, rollout.context);
  Table table({{"step", Align::right},
               {"mean norm", Align::right},
               {"largest norm", Align::right},
               {"error", Align::right}});
  for (const auto& point : rollout.points) {
    table.add({std::to_string(point.step), fmt::format("{:.4f}", point.mean_norm),
               fmt::format("{:.4f}", point.largest_norm),
               point.error ? fmt::format("{:.3e}", *point.error) : "-"});
  }
  fmt::print("{}", table.text());
}

}  // namespace

void add_rollout(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "rollout", "Feed a run's predictions back; report norm drift and error against the truth");
  auto options = std::make_shared<RolloutOptions>();
  add_run_options(*command, *options);
  add_data_option(*command, *options);
  command->add_option("--steps", options->rollout.steps, "Steps to predict")
      ->check(CLI::Range(1, 100000000))
      ->capture_default_str();
  command->add_option("--trajectories", options->rollout.trajectories, "Validation trajectories")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      ->add_option("--context", options->rollout.context,
                   "Positions that the model sees (default: half its block, at most the data's)")
      ->check(CLI::Range(1, 1 << 20));
  command->add_option("--points", options->rollout.points, "Steps to report, evenly spaced")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->footer("Example:\n  edelta rollout runs/mine --steps 2000");
  command->callback([command, options] {
    run_rollout(*options, /*trajectories_asked=*/command->count("--trajectories") > 0);
  });
}

}  // namespace edelta::cli
