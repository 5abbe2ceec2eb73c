#include "cli/run_options.h"

#include "cli/checks.h"
#include "cli/machine_options.h"

namespace edelta::cli {

std::shared_ptr<models::Model> RunOptions::model() const {
  return load_run_model(folder(), weights());
}

void add_run_options(CLI::App& command, RunOptions& options, const char* run) {
  command.add_option("RUN", options.run, run)->required()->check(kNotEmpty);
  command.add_option("--weights", options.which, "best (lowest validation loss) or last")
      ->check(CLI::IsMember({"best", "last"}))
      ->capture_default_str();
  add_machine_options(command);
  command.add_flag("--json", options.json, "Print JSON");
}

void add_data_option(CLI::App& command, RunOptions& options) {
  command.add_option("--data", options.data, "Where the run's data is now, if it has moved")
      ->check(kNotEmpty);
}

}  // namespace edelta::cli
