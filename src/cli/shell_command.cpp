#include "cli/shell_command.h"

#include <cstdlib>

namespace edelta::cli {
namespace {

std::string program_name = "edelta";

// What a shell takes as it is.
constexpr const char* kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";

}  // namespace

std::string shell_quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string result = "'";
  for (const char c : word) {
    // A quote ends the quotation, stands for itself, and begins another.
    c == '\'' ? result += "'\\''" : result += c;
  }
  return result + "'";
}

void set_program_name(const std::string& name) {
  const char* called = std::getenv("EDELTA_COMMAND");
  program_name = called != nullptr && *called != '\0' ? called : name;
}

std::string shell_command(const std::vector<std::string>& arguments) {
  std::string command = shell_quoted(program_name);
  for (const std::string& argument : arguments) command += " " + shell_quoted(argument);
  return command;
}

}  // namespace edelta::cli
