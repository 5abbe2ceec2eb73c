#include "cli/own_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "edelta/base/error.h"

namespace edelta::cli {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

pid_t start_own_process(std::vector<std::string> arguments, std::vector<std::string> environment,
                        int output, int log) {
  arguments.insert(arguments.begin(), "edelta");
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    // Only async-signal-safe calls until exec: the parent may have threads.
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(kNotStarted);
    dup2(output, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execve("/proc/self/exe", argv.data(), envp.data());
    _exit(kNotStarted);
  }
  if (child < 0) throw Failure(fmt::format("no child process: {}", std::strerror(errno)));
  return child;
}

}  // namespace edelta::cli
