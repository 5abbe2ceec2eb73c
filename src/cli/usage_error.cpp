#include "cli/usage_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/suggest.h"

namespace edelta::cli {
namespace {

std::string unknown_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  const std::string meant = base::closest(word, commands);
  return fmt::format("there is no command '{}'{}", word,
                     meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant));
}

std::string unknown_option(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& known : option->get_lnames()) options.push_back(known);
  }
  const std::string meant = base::closest(name.substr(name.find_first_not_of('-')), options);
  return fmt::format("there is no option {}{}", name,
                     meant.empty() ? "" : fmt::format("; did you mean --{}?", meant));
}

// Whether it looks like an option: a number may be negative.
bool is_option(const std::string& word) {
  const size_t letter = word.find_first_not_of('-');
  return letter > 0 && letter != std::string::npos && (word[letter] < '0' || word[letter] > '9');
}

}  // namespace

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
  std::vector<const CLI::App*> given{&app};
  for (const CLI::App* command : app.get_subcommands()) given.push_back(command);
  std::string name;
  std::string message = error.what();
  // Words that nothing took come first. They explain the rest: a value after a misspelt option is
  // one more argument, and what it should have set is missing.
  for (const CLI::App* command : given) {
    name += (name.empty() ? "" : " ") + command->get_name();
    const std::vector<std::string> left = command->remaining();
    const auto option = std::find_if(left.begin(), left.end(), is_option);
    if (option != left.end()) {
      message = unknown_option(*command, *option);
      break;
    }
    if (command == &app && !left.empty()) {
      message = unknown_command(app, left.front());
      break;
    }
  }
  return fmt::format("{} (see {} --help)", message, name);
}

}  // namespace edelta::cli
