// edelta eval: the loss of a trained model over a whole split.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/run_options.h"
#include "edelta/base/error.h"
#include "edelta/train/evaluate.h"

namespace edelta::cli {
namespace {

struct Options : RunOptions {
  std::string split = "val";
  std::string data;
};

void run(const Options& options) {
  const auto model = options.model();
  const train::TrainConfig config = options.folder().read_config();
  const data::Dataset dataset =
      options.data.empty() ? load_data(config) : data::read_dataset(options.data);
  const bool validation = options.split == "val";
  const torch::Tensor& x = validation ? dataset.val_x : dataset.train_x;
  const torch::Tensor& y = validation ? dataset.val_y : dataset.train_y;
  if (x.size(2) != model->config().input_dim) {
    throw InputError(fmt::format("the data has dimension {}; the model was trained on {}",
                                 x.size(2), model->config().input_dim));
  }
  const train::Evaluation evaluation =
      train::evaluate(*model, x, y, validation ? dataset.val_strata : std::vector<data::Stratum>{});
  const nlohmann::ordered_json out{{"run", options.run},      {"weights", options.which},
                                   {"split", options.split},  {"sequences", x.size(0)},
                                   {"loss", evaluation.loss}, {"strata", evaluation.strata}};
  if (options.json) {
    fmt::print("{}\n", out.dump(2));
    return;
  }
  fmt::print("{} loss over {} sequences: {:.6e}\n", options.split, x.size(0), evaluation.loss);
  for (const auto& [name, loss] : evaluation.strata) fmt::print("  {}: {:.6e}\n", name, loss);
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "Evaluate a run's model over a whole split");
  auto options = std::make_shared<Options>();
  add_run_options(*command, *options);
  command->add_option("--split", options->split, "val or train")
      ->check(CLI::IsMember({"val", "train"}))
      ->capture_default_str();
  command->add_option("--data", options->data, "Other data than the run's: a folder of .npy files");
  command->footer(
      "Examples:\n  edelta eval runs/mine\n  edelta eval runs/mine --data other --split train");
  command->callback([options] { run(*options); });
}

}  // namespace edelta::cli
