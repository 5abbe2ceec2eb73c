// Scripts with which a shell completes edelta's command lines.
#pragma once

#include <string>
#include <vector>

namespace edelta::cli {

// What may follow an option, or stand alone where a command takes arguments.
struct CompletedValue {
  enum class Kind { none, other, choice, folder, file };  // none: a flag; other: such as a number
  Kind kind = Kind::none;
  std::vector<std::string> choices;
  bool list = false;  // several, separated by commas
};

struct CompletedOption {
  std::string name;  // with its dashes
  std::string help;
  CompletedValue value;
};

struct CompletedCommand {
  std::string name;
  std::string help;
  std::vector<CompletedOption> options;
  CompletedValue argument;
};

std::string bash_completion(const std::vector<CompletedCommand>& commands);
std::string zsh_completion(const std::vector<CompletedCommand>& commands);
std::string fish_completion(const std::vector<CompletedCommand>& commands);

}  // namespace edelta::cli
