// edelta eval: the loss of a trained model over a whole split.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/input_file.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/eval_puzzles.h"
#include "cli/measures.h"
#include "cli/notice.h"
#include "cli/print_json.h"
#include "cli/run_options.h"
#include "cli/strata.h"
#include "data/token_files.h"
#include "edelta/train/evaluate.h"
#include "infer/model_source.h"

namespace edelta::cli {
namespace {

struct EvalOptions : RunOptions {
  std::string split = "val";
  std::string submission;
  bool force = false;

  train::Split which_split() const {
    return split == "val" ? train::Split::val : train::Split::train;
  }
};

// The model, what it was configured with, and its tokenizer: those of a run, or an exported one's.
struct Evaluated {
  std::shared_ptr<models::Model> model;
  train::TrainConfig config;
  std::shared_ptr<const data::Tokenizer> tokenizer;
};

Evaluated load(const EvalOptions& options) {
  if (!infer::is_exported_model(options.run)) {
    return {options.model(), options.folder().read_config(), options.folder().read_tokenizer()};
  }
  if (options.data.empty()) {
    throw InputError(
        fmt::format("{} is no run: name the data to evaluate it on with --data", options.run));
  }
  const infer::ModelSource source = infer::load_exported_model(options.run);
  for (const std::string& line : source.notices) notice("{}\n", line);
  source.model->eval();
  train::TrainConfig config;
  config.model = source.model->config();
  config.vocab = config.model.vocab_size;
  return {source.model, config, source.tokenizer};
}

// Data that the model has never seen, of the kind that it was trained on.
std::shared_ptr<const train::TrainingData> other_data(const EvalOptions& options,
                                                      train::TrainConfig config) {
  config.task.reset();
  config.data = options.data;
  // Where the folder tells its vocabulary, that is compared with the model's.
  const std::filesystem::path folder = options.data;
  if (base::is_there(folder / data::kTextFile) || base::is_there(folder / data::kTokenizerFile)) {
    config.vocab.reset();
  }
  return load_training_data(config);
}

// The same number means something else to another tokenizer.
void require_same_tokenizer(const EvalOptions& options,
                            const std::shared_ptr<const data::Tokenizer>& own) {
  const std::filesystem::path other = std::filesystem::path(options.data) / data::kTokenizerFile;
  if (!own || !base::is_there(other)) return;
  if (own->to_json() != data::read_tokenizer(other)->to_json()) {
    throw InputError(fmt::format("{} is another tokenizer than the model's", other.string()));
  }
}

void run_eval(const EvalOptions& options) {
  if (!infer::is_exported_model(options.run) && options.folder().read_config().recursive) {
    return eval_puzzles(
        options,
        {.split = options.which_split(), .submission = options.submission, .force = options.force});
  }
  if (!options.submission.empty()) throw InputError("--submission goes with a run on ARC");
  const auto [model, config, tokenizer] = load(options);
  const auto data = options.data.empty() ? options.training_data() : other_data(options, config);
  data->require_fits(model->config());
  if (!options.data.empty()) require_same_tokenizer(options, tokenizer);
  const train::Split split = options.which_split();
  const train::Evaluation evaluation = data->evaluate(*model, split);
  const train::Extent extent = data->extent(split);
  nlohmann::ordered_json out{{"run", options.run},      {"weights", options.which},
                             {"split", options.split},  {extent.unit, extent.count},
                             {"loss", evaluation.loss}, {"strata", evaluation.strata}};
  if (!evaluation.measures.empty()) out["measures"] = evaluation.measures;
  if (options.json) {
    print_json(out);
    return;
  }
  fmt::print("{} loss over {} {}: {:.6e}\n", options.split, extent.count, extent.unit,
             evaluation.loss);
  if (!evaluation.measures.empty()) fmt::print("  {}\n", measures_text(evaluation.measures));
  for (const auto& [name, loss] : evaluation.strata) {
    fmt::print("  of the stratum {} alone: {:.6e}\n", name, loss);
  }
}

}  // namespace

void add_eval(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("eval", "Evaluate a run's model, or an exported one, over a whole split");
  auto options = std::make_shared<EvalOptions>();
  add_run_options(*command, *options, "Run folder, or an exported model");
  command->add_option("--split", options->split, "val or train")
      ->check(CLI::IsMember({"val", "train"}))
      ->capture_default_str();
  command
      ->add_option("--data", options->data, "Other data than the run's: a folder as train takes it")
      ->check(kNotEmpty);
  command
      ->add_option("--submission", options->submission,
                   "File for the answers that a run on ARC gives to its test puzzles")
      ->type_name("FILE")
      ->check(kNotEmpty);
  command->add_flag("--force", options->force, "Overwrite that file");
  command->footer(
      std::string(kStrata) +
      "\nOf a recursive run: what it solves after each number of steps; on ARC's test puzzles\n"
      "also pass@K, by votes over the views of a task."
      "\n\nExamples:\n  edelta eval runs/mine\n  edelta eval runs/mine --data other --split train\n"
      "  edelta eval model.safetensors --data my-sequences\n"
      "  edelta eval runs/arc --submission submission.json");
  command->callback([options] { run_eval(*options); });
}

}  // namespace edelta::cli
