// Gnuplot as a child process.
#pragma once

#include <filesystem>
#include <string>

namespace edelta::reproduce::report {

// Runs the script, without the user's own settings; what it writes goes where it says, `work` takes
// the script itself and gnuplot's messages. Failure with those messages when it does not succeed.
void run_gnuplot(const std::string& script, const std::filesystem::path& work);

// A gnuplot string that stands for exactly this text, except that control characters become spaces.
// All punctuation is written in octal: gnuplot looks for commands in backquotes and for @macros
// before it looks for quotes, and not always right.
std::string gnuplot_quoted(const std::string& text);

}  // namespace edelta::reproduce::report
