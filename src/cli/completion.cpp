// edelta completion: a script with which a shell completes command lines.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/completion_script.h"
#include "edelta/data/task.h"
#include "edelta/data/tokenizer.h"
#include "edelta/models/architecture_options.h"
#include "edelta/models/registry.h"
#include "edelta/probes/reflection.h"
#include "edelta/train/config.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/suite_preset.h"

namespace edelta::cli {
namespace {

using Names = std::vector<std::string>;
using Kind = CompletedValue::Kind;

template <class Range>
Names names_of(const Range& range) {
  Names names;
  for (const auto& each : range) names.push_back(each.name);
  return names;
}

template <class E>
Names values_of() {
  Names names;
  for (const auto& [value, name] : enum_names<E>()) names.emplace_back(name);
  return names;
}

// Names that the library knows and the command line only passes on.
Names known_values(const std::string& command, const std::string& option) {
  static const std::map<std::string, Names> anywhere{
      {"--model", names_of(models::architectures())},
      {"--models", names_of(models::architectures())},
      {"--target", names_of(models::architectures())},
      {"--breakdown", names_of(models::architectures())},
      {"--task", data::task_names()},
      {"TASK", data::task_names()},
      {"--tokenizer", data::tokenizer_names()},
      {"--operators", probes::reflection_operator_names()},
      {"--pool", values_of<ops::Pool>()},
      {"--branch", values_of<geometry::Branch>()},
      {"--generator", values_of<geometry::GeneratorKind>()},
      {"--blend", values_of<geometry::Blend>()},
      {"--field", values_of<geometry::ScalarField>()},
      {"--operator-init", values_of<geometry::OperatorInit>()},
      {"--gate-regulariser", values_of<geometry::GateRegulariser>()},
      {"--gate-gradient", values_of<geometry::GateGradient>()},
      {"--projections", values_of<models::Projections>()},
      {"--projection-init", values_of<models::ProjectionInit>()},
      {"--bias", {"true", "false"}},
      {"--mlp-t", {"true", "false"}},
      {"--mixer", values_of<models::Mixer>()},
      {"--mixer-init", values_of<models::MixerInit>()},
      {"--positions", values_of<models::Positions>()},
      {"--optimizer", values_of<train::PuzzleAdam>()},
      {"--planes", {"random", "first", "all"}}};
  if (option == "--preset") {
    if (command == "reproduce") return reproduce::suite_preset_names();
    Names names;
    for (const train::Preset& preset : train::presets()) {
      if (command == "train" || !preset.recursive) names.push_back(preset.name);
    }
    return names;
  }
  if (command == "train" && option == "--model") {
    Names names = names_of(models::architectures());
    for (const std::string& kind : values_of<models::Recursion>()) names.push_back(kind);
    return names;
  }
  if (option == "NAME") return names_of(reproduce::experiments());
  const auto found = anywhere.find(option);
  return found == anywhere.end() ? Names() : found->second;
}

// What CLI::IsMember says of itself in the help: TEXT:{a,b}.
Names checked_values(const std::string& type) {
  const size_t begin = type.find('{'), end = type.find('}');
  Names values;
  if (end == std::string::npos || begin > end) return values;
  std::istringstream list(type.substr(begin + 1, end - begin - 1));
  for (std::string value; std::getline(list, value, ',');) values.push_back(value);
  return values;
}

CompletedValue value_of(const std::string& command, const CLI::Option& option,
                        const std::string& name) {
  if (option.get_items_expected_max() == 0) return {};
  CompletedValue value{.kind = Kind::choice,
                       .choices = known_values(command, name),
                       .list = option.get_delimiter() == ','};
  const std::string type = option.get_type_name();
  if (value.choices.empty()) value.choices = checked_values(type);
  if (!value.choices.empty()) return value;
  static const std::set<std::string> folders{"RUN", "--data", "--resume", "--store"};
  const bool setting = option.get_group().starts_with("Settings: ");  // of type TEXT, all of them
  if (folders.contains(name) || type == "DIR") {
    value.kind = Kind::folder;
  } else if (type.find("FILE") != std::string::npos || (type.starts_with("TEXT") && !setting)) {
    value.kind = Kind::file;
  } else {
    value.kind = Kind::other;
  }
  return value;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::vector<CompletedCommand> commands_of(const CLI::App& app) {
  std::vector<CompletedCommand> commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    CompletedCommand& added = commands.emplace_back();
    added.name = command->get_name();
    added.help = first_line(command->get_description());
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_group().empty()) continue;  // hidden: another name for one that is shown
      const std::string help = first_line(option->get_description());
      if (option->get_positional()) {
        added.argument = value_of(added.name, *option, option->get_name());
      }
      for (const std::string& name : option->get_lnames()) {
        added.options.push_back({"--" + name, help, value_of(added.name, *option, "--" + name)});
      }
    }
  }
  return commands;
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("completion", "Print a script with which a shell completes command lines");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->required();
  command->footer(
      "In bash, or zsh after compinit; for this session, or in ~/.bashrc or ~/.zshrc for all:\n"
      "  source <(edelta completion bash)\n"
      "In fish:\n"
      "  edelta completion fish > ~/.config/fish/completions/edelta.fish");
  command->callback([&app, shell] {
    const std::vector<CompletedCommand> commands = commands_of(app);
    fmt::print("{}", *shell == "bash"  ? bash_completion(commands)
                     : *shell == "zsh" ? zsh_completion(commands)
                                       : fish_completion(commands));
  });
}

}  // namespace edelta::cli
