// edelta demo: a tour in minutes. It is edelta reproduce with a chosen list.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>

#include "cli/commands.h"
#include "cli/demo_summary.h"
#include "cli/reproduce.h"

namespace edelta::cli {
namespace {

// The program of that name on the PATH.
std::string find_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = folder + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
  }
  return "";
}

// Shows the page where there is a desktop to show it on.
void open_on_desktop(const std::filesystem::path& page) {
  const std::string opener = find_program("xdg-open");
  const bool desktop =
      std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (!desktop || opener.empty()) return;
  std::fflush(stdout);
  if (fork() != 0) return;
  signal(SIGPIPE, SIG_DFL);  // which this program ignores
  execl(opener.c_str(), "xdg-open", page.c_str(), nullptr);
  _exit(127);
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "demo", "A tour in minutes: the theorems, the reflection probe, a training race, a report");
  auto options = std::make_shared<ReproduceOptions>();
  options->preset = "demo";
  options->names = {"theorems", "reflection", "main-stability"};
  command->add_option("--out", options->out, "Folder (default: results/demo)")->type_name("DIR");
  command->footer(
      "Called again it shows what is there; remove the folder to run it anew.\n\n"
      "Examples:\n  edelta demo\n  edelta demo --out /tmp/demo");
  command->callback([options] {
    options->command = {"demo"};
    if (!options->out.empty()) {
      options->command.insert(options->command.end(), {"--out", options->out});
    }
    const std::string page = report_page(*options);
    reproduce(*options, [&](const reproduce::Results& results) {
      fmt::print("{}", demo_summary(results, page));
    });
    open_on_desktop(page);
  });
}

}  // namespace edelta::cli
