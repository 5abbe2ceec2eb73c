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
#include "edelta/models/model_file.h"

namespace edelta::cli {
namespace {

struct Options : RunOptions {
  std::string out;
  bool force = false;
};

void run(const Options& options) {
  require_new(options.out, options.force);
  const auto model = options.model();
  const nlohmann::ordered_json config = to_json(model->config());
  base::write_safetensors(options.out, models::parameters_of(*model),
                          {{"format", "pt"}, {models::kConfigKey, config.dump()}});
  const nlohmann::ordered_json out{
      {"file", options.out}, {"weights", options.which}, {"parameters", model->parameter_count()}};
  if (options.json) {
    print_json(out);
  } else {
    fmt::print("{} parameters in {}; its metadata holds the configuration\n",
               model->parameter_count(), options.out);
  }
}

}  // namespace

void add_export(CLI::App& app) {
  CLI::App* command = app.add_subcommand("export", "Write a run's weights to one safetensors file");
  auto options = std::make_shared<Options>();
  add_run_options(*command, *options);
  command->add_option("--out", options->out, "File to write")->required()->check(kNotEmpty);
  command->add_flag("--force", options->force, "Overwrite the file");
  command->footer("Example:\n  edelta export runs/mine --out model.safetensors");
  command->callback([options] { run(*options); });
}

}  // namespace edelta::cli
