#include "reproduce/report/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "edelta/base/error.h"

namespace edelta::reproduce::report {
namespace {

namespace fs = std::filesystem;

// Messages are a source line, a caret below it and the reason, each on lines of their own.
std::string on_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line.empty() ? "no message" : line;
}

// The exit status as waitpid gives it; `messages` receives standard error.
int spawn_and_wait(const fs::path& script, const fs::path& messages) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0600);
  std::string program = "gnuplot", defaults = "-d", file = script.string();
  char* arguments[] = {program.data(), defaults.data(), file.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) throw Failure("gnuplot is missing; install gnuplot-nox");
  if (error != 0) throw Failure(fmt::format("cannot start gnuplot: {}", std::strerror(error)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) {
      throw Failure(fmt::format("lost sight of gnuplot: {}", std::strerror(errno)));
    }
  }
  return status;
}

}  // namespace

void run_gnuplot(const std::string& script, const fs::path& work) {
  const fs::path script_path = work / "script.gp", messages = work / "messages";
  base::write_text_atomically(script_path, script);
  const int status = spawn_and_wait(script_path, messages);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  constexpr std::size_t kMessageLimit = 1 << 20;
  throw Failure(
      fmt::format("gnuplot failed: {}", on_one_line(base::read_text(messages, kMessageLimit))));
}

std::string gnuplot_quoted(const std::string& text) {
  std::string quoted = "\"";
  bool octal = false;  // a digit after an octal number would be taken for a part of it
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x80 || std::isalpha(byte) || (std::isdigit(byte) && !octal);
    octal = !plain && byte > ' ';
    if (octal) {
      quoted += fmt::format("\\{:03o}", byte);
    } else {
      quoted += plain ? c : ' ';
    }
  }
  return quoted + "\"";
}

}  // namespace edelta::reproduce::report
