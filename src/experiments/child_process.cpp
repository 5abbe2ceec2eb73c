#include "experiments/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "edelta/error.h"

namespace edelta::experiments {
namespace {

constexpr int kNotStarted = 127;

int open_for_writing(const std::filesystem::path& path, int flags) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
  if (descriptor < 0) throw Failure(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  return descriptor;
}

std::vector<std::string> child_environment(int64_t threads) {
  std::vector<std::string> environment{fmt::format("OMP_NUM_THREADS={}", threads)};
  bool spin_given = false;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.starts_with("OMP_NUM_THREADS=")) continue;
    spin_given = spin_given || text.starts_with("GOMP_SPINCOUNT=");
    environment.push_back(text);
  }
  // Threads of several jobs that wait for each other must not spin for long.
  if (!spin_given) environment.emplace_back("GOMP_SPINCOUNT=10000");
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

}  // namespace

ChildProcess::ChildProcess(const ChildCommand& command) {
  std::vector<std::string> arguments{"edelta"};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  std::vector<std::string> environment = child_environment(command.threads);
  std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  const int log = open_for_writing(command.log, O_TRUNC | O_APPEND);
  const int output = command.output.empty() ? log : open_for_writing(command.output, O_TRUNC);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) {
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
  const int error = errno;
  if (output != log) close(output);
  close(log);
  if (pid_ < 0) throw Failure(fmt::format("no child process: {}", std::strerror(error)));
}

std::optional<int> ChildProcess::poll() {
  int status = 0;
  const pid_t ended = waitpid(pid_, &status, WNOHANG);
  if (ended == 0) return std::nullopt;
  if (ended < 0) return kNotStarted;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void ChildProcess::stop() const { kill(pid_, SIGTERM); }

}  // namespace edelta::experiments
