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
  bool json = false;

  train::RunFolder folder() const { return train::RunFolder(run); }
  std::shared_ptr<models::Model> model() const;
};

// RUN, --weights, --json, --threads and --impl.
void add_run_options(CLI::App& command, RunOptions& options);

}  // namespace edelta::cli
