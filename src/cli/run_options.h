// Options of the commands that look at a finished or running run.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "edelta/train/run_folder.h"

namespace edelta::cli {

struct RunOptions {
  std::string run;
  std::string which = "best";
  std::string data;  // where the run's data is now
  bool json = false;

  train::RunFolder folder() const { return train::RunFolder(run); }
  train::Which weights() const { return which == "best" ? train::Which::best : train::Which::last; }
  std::shared_ptr<models::Model> model() const;
  // InputError where it is not what the run was trained on.
  std::shared_ptr<const train::TrainingData> training_data() const {
    return load_run_data(folder().read_manifest(), data);
  }
};

// RUN, --weights, --json, --threads and --impl.
void add_run_options(CLI::App& command, RunOptions& options, const char* run = "Run folder");
// --data, for commands that look at the run's data.
void add_data_option(CLI::App& command, RunOptions& options);

}  // namespace edelta::cli
