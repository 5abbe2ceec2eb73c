// Does the steps of a suite by calling this very program.
#pragma once

#include <string>
#include <vector>

#include "reproduce/launcher.h"

namespace edelta::cli {

// Each step is a child process. It is asked to stop (SIGTERM, on which a training saves) when this
// process dies. It keeps this process's open files: a lock lasts as long as the last of them.
class ProcessLauncher : public reproduce::Launcher {
 public:
  std::unique_ptr<reproduce::Job> start(const reproduce::Step& step, int64_t threads,
                                        const std::filesystem::path& log) override;
};

// The program's arguments that do the step. A measurement prints its JSON to standard output.
std::vector<std::string> step_arguments(const reproduce::Step& step);

}  // namespace edelta::cli
