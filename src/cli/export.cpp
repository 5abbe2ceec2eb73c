// edelta export: a run's weights as one safetensors file with the published parameter names.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/new_file.h"
#include "cli/print_json.h"
#include "cli/run_options.h"
#include "edelta/models/fold.h"
#include "edelta/models/model_file.h"
#include "infer/model_source.h"

namespace edelta::cli {
namespace {

struct ExportOptions : RunOptions {
  std::string out;
  bool force = false, fold = false;
};

// Sequences of normal numbers, or of random tokens.
torch::Tensor random_input(const models::ModelConfig& config) {
  const at::Generator generator = at::detail::createCPUGenerator(/*seed=*/1);
  if (config.head == models::Head::continuous) {
    return torch::randn({4, config.block_size, config.input_dim}, generator);
  }
  return torch::randint(0, config.vocab_size, {4, config.block_size}, generator, torch::kInt64);
}

// How far the outputs of two models are apart, relative to the largest.
double output_difference(models::Model& a, models::Model& b) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor x = random_input(a.config());
  const torch::Tensor y = a.predict(x);
  return ((y - b.predict(x)).abs().max() / y.abs().max()).item<double>();
}

void run_export(const ExportOptions& options) {
  require_new(options.out, options.force);
  auto model = options.model();
  double difference = 0;
  if (options.fold) {
    const auto folded = models::folded(*model);
    difference = output_difference(*model, *folded);
    model = folded;
  }
  const nlohmann::ordered_json config = to_json(model->config());
  base::Metadata metadata{{"format", "pt"}, {models::kConfigKey, config.dump()}};
  if (const auto tokenizer = options.folder().read_tokenizer()) {
    metadata[infer::kTokenizerKey] = tokenizer->to_json().dump();
  }
  base::write_safetensors(options.out, models::parameters_of(*model), metadata);
  nlohmann::ordered_json out{{"file", options.out},
                             {"weights", options.which},
                             {"model", model->config().model},
                             {"parameters", model->parameter_count()}};
  if (options.fold) out["output_difference"] = difference;
  if (options.json) {
    print_json(out);
    return;
  }
  fmt::print("{} parameters in {}; its metadata holds the configuration{}\n",
             model->parameter_count(), options.out,
             metadata.contains(infer::kTokenizerKey) ? " and the tokenizer" : "");
  if (options.fold) {
    fmt::print("model {}, without H_pre and H_post; its outputs differ by {:.1e} of the largest\n",
               model->config().model, difference);
  }
}

}  // namespace

void add_export(CLI::App& app) {
  CLI::App* command = app.add_subcommand("export", "Write a run's weights to one safetensors file");
  auto options = std::make_shared<ExportOptions>();
  add_run_options(*command, *options);
  command->add_option("--out", options->out, "File to write")->required()->check(kNotEmpty);
  command->add_flag("--force", options->force, "Overwrite the file");
  command->add_flag("--fold", options->fold,
                    "Multiply H_pre and H_post into their neighbours: edelta with branch none "
                    "becomes gpt");
  command->footer(
      "Examples:\n  edelta export runs/mine --out model.safetensors\n"
      "  edelta export runs/mine --fold --out folded.safetensors");
  command->callback([options] { run_export(*options); });
}

}  // namespace edelta::cli
