// What is wrong with a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace edelta::cli {

// One line: a command or option that does not exist, with the one that was probably meant, or else
// what CLI11 found; and where to read on.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace edelta::cli
