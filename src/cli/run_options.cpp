#include "cli/run_options.h"

#include "cli/machine_options.h"

namespace edelta::cli {

std::shared_ptr<models::Model> RunOptions::model() const {
  return load_run_model(folder(), which == "best" ? train::Which::best : train::Which::last);
}

void add_run_options(CLI::App& command, RunOptions& options) {
  command.add_option("RUN", options.run, "Run folder")->required();
  command.add_option("--weights", options.which, "best (lowest validation loss) or last")
      ->check(CLI::IsMember({"best", "last"}))
      ->capture_default_str();
  add_machine_options(command);
  command.add_flag("--json", options.json, "Print JSON");
}

}  // namespace edelta::cli
