// Options that every command which runs a model has.
#pragma once

#include <CLI/CLI.hpp>

namespace edelta::cli {

void add_threads_option(CLI::App& command);
// --threads and --impl; they take effect while the command line is parsed, before the command runs.
void add_machine_options(CLI::App& command);

}  // namespace edelta::cli
