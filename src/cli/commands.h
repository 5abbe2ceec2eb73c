// The sub-commands; each is defined in the file of its name and adds itself to the program.
#pragma once

#include <CLI/CLI.hpp>

namespace edelta::cli {

void add_doctor(CLI::App& app);
void add_params(CLI::App& app);
void add_parity(CLI::App& app);
void add_verify(CLI::App& app);

}  // namespace edelta::cli
