#include "cli/completion_script.h"

#include <fmt/format.h>

#include <string_view>

#include "cli/shell_command.h"

namespace edelta::cli {
namespace {

using Kind = CompletedValue::Kind;

std::string words(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, " "));
}

std::vector<std::string> names(const std::vector<CompletedCommand>& commands) {
  std::vector<std::string> list;
  for (const CompletedCommand& command : commands) list.push_back(command.name);
  return list;
}

// With a backslash before each of the special characters.
std::string with_backslashes(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

// What the bash function does for a value.
std::string bash_action(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::choice:
      return fmt::format("{} '{}'", value.list ? "_edelta_list" : "_edelta_words",
                         words(value.choices));
    case Kind::folder:
      return "_edelta_paths -d";
    case Kind::file:
      return "_edelta_paths -f";
    case Kind::none:
    case Kind::other:
      break;
  }
  return ":";
}

constexpr const char* kBashFunctions =
    R"(# Completes edelta's command lines in bash; edelta completion bash printed it.
_edelta_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
# After a comma, the rest of the list.
_edelta_list() {
  local before=
  case $current in *,*) before=${current%,*}, ;; esac
  COMPREPLY=($(compgen -P "$before" -W "$1" -- "${current##*,}"))
  compopt -o nospace 2>/dev/null
}
_edelta_paths() {
  local IFS=$'\n'
  COMPREPLY=($(compgen "$1" -- "$current"))
  compopt -o filenames 2>/dev/null
}
_edelta() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command=
  COMPREPLY=()
  # bash takes --option=value apart.
  if [ "$current" = = ]; then
    current=
  elif [ "$previous" = = ]; then
    previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  [ "$COMP_CWORD" -lt 2 ] || command=${COMP_WORDS[1]}
)";

std::string zsh_action(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::choice:
      return value.list ? fmt::format("value:_values -s , value {}", words(value.choices))
                        : fmt::format("value:({})", words(value.choices));
    case Kind::folder:
      return "folder:_files -/";
    case Kind::file:
      return "file:_files";
    case Kind::none:
    case Kind::other:
      break;
  }
  return "value: ";
}

// An option as _arguments takes it. Brackets and colons in its text would end it.
std::string zsh_option(const CompletedOption& option) {
  std::string spec = option.name;
  const bool flag = option.value.kind == Kind::none;
  if (!flag) spec += "=";
  spec += "[" + with_backslashes(option.help, "[]:\\") + "]";
  if (!flag) spec += ":" + zsh_action(option.value);
  return shell_quoted(spec);
}

std::string fish_text(const std::string& text) { return "'" + with_backslashes(text, "\\'") + "'"; }

std::string fish_list(const std::vector<std::string>& choices) {
  return fmt::format("(__fish_complete_list , 'string split \" \" \"{}\"')", words(choices));
}

// The options of fish's complete that stand for a value.
std::string fish_action(const CompletedValue& value) {
  switch (value.kind) {
    case Kind::choice:
      return " -a " + fish_text(value.list ? fish_list(value.choices) : words(value.choices));
    case Kind::folder:
      return " -a '(__fish_complete_directories)'";
    case Kind::file:
      return " -F";
    case Kind::none:
    case Kind::other:
      break;
  }
  return "";
}

}  // namespace

std::string bash_completion(const std::vector<CompletedCommand>& commands) {
  std::string script = kBashFunctions;
  script += "  case \"$command $previous\" in\n";
  for (const CompletedCommand& command : commands) {
    for (const auto& [name, help, value] : command.options) {
      if (value.kind == Kind::none) continue;
      script += fmt::format("    '{} {}') {}; return ;;\n", command.name, name, bash_action(value));
    }
  }
  script += "  esac\n  case $command in\n";
  script += fmt::format("    '') _edelta_words '{} --help --version' ;;\n", words(names(commands)));
  for (const CompletedCommand& command : commands) {
    std::vector<std::string> options;
    for (const CompletedOption& option : command.options) options.push_back(option.name);
    script += fmt::format("    {}) case $current in -*) _edelta_words '{}' ;; *) {} ;; esac ;;\n",
                          command.name, words(options), bash_action(command.argument));
  }
  return script + "  esac\n}\ncomplete -F _edelta edelta\n";
}

std::string zsh_completion(const std::vector<CompletedCommand>& commands) {
  std::string script =
      "#compdef edelta\n# Completes edelta's command lines in zsh; edelta completion zsh printed "
      "it.\n_edelta() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n";
  for (const CompletedCommand& command : commands) {
    script += fmt::format("      {}\n", shell_quoted(command.name + ":" + command.help));
  }
  script +=
      "    )\n    _describe command commands\n    _arguments --help --version\n    return\n  fi\n"
      "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n";
  for (const CompletedCommand& command : commands) {
    script += fmt::format("    {})\n      _arguments", command.name);
    for (const CompletedOption& option : command.options) {
      script += " \\\n        " + zsh_option(option);
    }
    if (command.argument.kind != Kind::none) {
      script += " \\\n        " + shell_quoted("*:" + zsh_action(command.argument));
    }
    script += "\n      ;;\n";
  }
  // A file of this name on the fpath is the function itself when it is called first.
  return script +
         "  esac\n}\nif [ \"$funcstack[1]\" = _edelta ]; then _edelta \"$@\"; else compdef _edelta "
         "edelta; fi\n";
}

std::string fish_completion(const std::vector<CompletedCommand>& commands) {
  std::string script =
      "# Completes edelta's command lines in fish; edelta completion fish printed it.\n"
      "complete -c edelta -f\n"
      "complete -c edelta -n __fish_use_subcommand -l help -d 'Print help'\n"
      "complete -c edelta -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const CompletedCommand& command : commands) {
    script += fmt::format("complete -c edelta -n __fish_use_subcommand -a {} -d {}\n", command.name,
                          fish_text(command.help));
    const std::string here =
        fmt::format("complete -c edelta -n '__fish_seen_subcommand_from {}'", command.name);
    for (const auto& [name, help, value] : command.options) {
      script +=
          fmt::format("{} -l {}{}{} -d {}\n", here, name.substr(2),
                      value.kind == Kind::none ? "" : " -r", fish_action(value), fish_text(help));
    }
    if (command.argument.kind != Kind::none) {
      script += here + fish_action(command.argument) + "\n";
    }
  }
  return script;
}

}  // namespace edelta::cli
