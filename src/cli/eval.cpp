// edelta eval: the loss of a trained model over a whole split.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/print_json.h"
#include "cli/run_options.h"
#include "cli/strata.h"
#include "edelta/base/error.h"
#include "edelta/train/evaluate.h"

namespace edelta::cli {
namespace {

struct Options : RunOptions {
  std::string split = "val";
};

void run(const Options& options) {
  const auto model = options.model();
  const data::Dataset dataset =
      options.data.empty() ? options.dataset() : data::read_dataset(options.data);
  const bool validation = options.split == "val";
  const torch::Tensor& x = validation ? dataset.val_x : dataset.train_x;
  const torch::Tensor& y = validation ? dataset.val_y : dataset.train_y;
  if (x.size(2) != model->config().input_dim) {
    throw InputError(fmt::format("the data has dimension {}; the model was trained on {}",
                                 x.size(2), model->config().input_dim));
  }
  if (x.size(1) > model->config().block_size) {
    throw InputError(fmt::format("the sequences have {} positions; the model sees at most {}",
                                 x.size(1), model->config().block_size));
  }
  const train::Evaluation evaluation =
      train::evaluate(*model, x, y, validation ? dataset.val_strata : std::vector<data::Stratum>{});
  const nlohmann::ordered_json out{{"run", options.run},      {"weights", options.which},
                                   {"split", options.split},  {"sequences", x.size(0)},
                                   {"loss", evaluation.loss}, {"strata", evaluation.strata}};
  if (options.json) {
    print_json(out);
    return;
  }
  fmt::print("{} loss over {} sequences: {:.6e}\n", options.split, x.size(0), evaluation.loss);
  for (const auto& [name, loss] : evaluation.strata) {
    fmt::print("  of the stratum {} alone: {:.6e}\n", name, loss);
  }
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "Evaluate a run's model over a whole split");
  auto options = std::make_shared<Options>();
  add_run_options(*command, *options);
  command->add_option("--split", options->split, "val or train")
      ->check(CLI::IsMember({"val", "train"}))
      ->capture_default_str();
  command->add_option("--data", options->data, "Other data than the run's: a folder of .npy files")
      ->check(kNotEmpty);
  command->footer(
      std::string(kStrata) +
      "\n\nExamples:\n  edelta eval runs/mine\n  edelta eval runs/mine --data other --split train");
  command->callback([options] { run(*options); });
}

}  // namespace edelta::cli
