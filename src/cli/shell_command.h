// Commands that a user can copy into a shell.
#pragma once

#include <string>
#include <vector>

namespace edelta::cli {

// How this program was called, first thing in main(): the name that shell_command() begins with.
// EDELTA_COMMAND, which ./edelta sets, goes before it.
void set_program_name(const std::string& name);

// A word as a POSIX shell takes it: in quotes where it needs them.
std::string shell_quoted(const std::string& word);

// The program with these arguments, quoted where a POSIX shell needs it.
std::string shell_command(const std::vector<std::string>& arguments);

}  // namespace edelta::cli
