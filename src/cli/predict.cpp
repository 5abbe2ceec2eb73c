// edelta predict: a trained model's answers to sequences of one's own.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.h"
#include "cli/new_file.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "cli/run_options.h"
#include "cli/standard_input.h"
#include "cli/standard_streams.h"
#include "edelta/base/error.h"
#include "edelta/base/npy.h"
#include "edelta/data/dataset.h"
#include "edelta/train/predict.h"

namespace edelta::cli {
namespace {

struct PredictOptions : RunOptions {
  std::string input, out;
  int64_t batch = 64;
  bool force = false;
};

void write_standard_output(const std::string& bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() ||
      std::fflush(stdout) != 0) {
    throw Failure(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
}

void check_output(const PredictOptions& options) {
  if (options.out != kStandardStream) return require_new(options.out, options.force);
  if (options.json) throw InputError("--json and the predictions would both go to standard output");
  if (isatty(STDOUT_FILENO) != 0) {
    throw InputError("--out - writes a .npy file, which is nothing for a terminal; redirect it");
  }
}

torch::Tensor read_input(const PredictOptions& options, const models::ModelConfig& model) {
  const bool stream = options.input == kStandardStream;
  const std::string name = stream ? "standard input" : options.input;
  const torch::Tensor array =
      stream ? base::parse_npy(read_standard_input(SIZE_MAX), name) : base::read_npy(options.input);
  const auto wrong = [&](const char* what, int64_t given, const char* wanted, int64_t size) {
    return InputError(fmt::format("{}: {} is {}; the model of {} takes {} {}", name, what, given,
                                  options.run, wanted, size));
  };
  const torch::Tensor x = data::as_sequences(array, name);
  if (x.size(2) != model.input_dim) throw wrong("dim", x.size(2), "only", model.input_dim);
  if (x.size(1) > model.block_size) throw wrong("T", x.size(1), "at most", model.block_size);
  return array.dim() == 2 ? x.squeeze(1) : x;
}

torch::Tensor predictions_of(models::Model& model, const torch::Tensor& input, int64_t batch) {
  const torch::Tensor x = input.dim() == 2 ? input.unsqueeze(1) : input;
  ProgressLine progress;
  const auto show = [&](int64_t done) {
    progress.show({fmt::format("{} of {} sequences", done, x.size(0))});
  };
  return train::predict(model, x, {.batch = batch, .on_batch = show}).view_as(input);
}

// Finite input may still be too large for a model.
void require_finite(const torch::Tensor& predictions) {
  const torch::Tensor finite = torch::isfinite(predictions).flatten(1).all(1);
  if (finite.all().item<bool>()) return;
  throw Failure(
      fmt::format("the predictions for sequence {} are not finite, of {} such; nothing is written",
                  finite.logical_not().nonzero()[0].item<int64_t>(),
                  finite.logical_not().sum().item<int64_t>()));
}

void run_predict(const PredictOptions& options) {
  check_output(options);
  const auto model = options.model();
  if (model->config().head == models::Head::token) {
    throw InputError(
        fmt::format("{}: predict takes models of vectors; this one is of text", options.run));
  }
  const torch::Tensor input = read_input(options, model->config());
  const torch::Tensor predictions = predictions_of(*model, input, options.batch);
  require_finite(predictions);
  if (options.out == kStandardStream) return write_standard_output(base::format_npy(predictions));
  base::write_npy(options.out, predictions);
  if (options.json) {
    const nlohmann::ordered_json out{{"run", options.run},
                                     {"weights", options.which},
                                     {"file", options.out},
                                     {"shape", predictions.sizes().vec()}};
    print_json(out);
  } else {
    fmt::print("predictions for {} sequences in {}\n", predictions.size(0), options.out);
  }
}

}  // namespace

void add_predict(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("predict", "Write a run's predictions for sequences of your own");
  auto options = std::make_shared<PredictOptions>();
  add_run_options(*command, *options);
  command
      ->add_option("--input", options->input,
                   "Sequences, a .npy file of floats [N, T, dim] or [N, dim]; - is standard input")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--out", options->out,
                   "File for the predictions, float32 in the input's shape; - is standard output")
      ->type_name("FILE")
      ->required();
  command->add_option("--batch", options->batch, "Sequences at a time")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_flag("--force", options->force, "Overwrite the file");
  command->footer(
      "Position t of the output is what the run learnt to give there: usually position t + 1.\n\n"
      "Examples:\n  edelta predict runs/mine --input x.npy --out y.npy\n"
      "  edelta predict runs/mine --input - --out - < x.npy > y.npy");
  command->callback([options] { run_predict(*options); });
}

}  // namespace edelta::cli
