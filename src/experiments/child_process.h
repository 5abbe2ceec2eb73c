// The program itself as a child process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace edelta::experiments {

struct ChildCommand {
  std::vector<std::string> arguments;  // of this very program
  std::filesystem::path log;           // standard error, and standard output unless it has a file
  std::filesystem::path output = {};   // standard output
  int64_t threads = 1;                 // to compute with
};

// A child is asked to stop (SIGTERM, on which a training saves) when this process dies. It keeps
// this process's open files: a lock lasts as long as the last of them.
class ChildProcess {
 public:
  // Failure if it cannot be started.
  explicit ChildProcess(const ChildCommand& command);

  // Its exit code once it has ended, 128 + the number of the signal that ended it.
  std::optional<int> poll();
  void stop() const;

 private:
  pid_t pid_ = -1;
};

}  // namespace edelta::experiments
