// Who does the steps: the runner decides what is to be done and when, a launcher how.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "reproduce/step.h"

namespace edelta::reproduce {

// A step that has been started.
class Job {
 public:
  virtual ~Job() = default;
  // How it ended, once it has ("exit code 1"), for the reason of a failure.
  virtual std::optional<std::string> poll() = 0;
  // Asks it to save and end.
  virtual void stop() = 0;
};

class Launcher {
 public:
  virtual ~Launcher() = default;
  // Begins a step, to compute with so many threads. A training's run folder is there and is
  // continued. When the job has ended well, the run has its result, or the measurement its whole
  // file. What the step has to say goes to the file `log`, a failure's reason as its last line.
  // Failure if it cannot be started.
  virtual std::unique_ptr<Job> start(const Step& step, int64_t threads,
                                     const std::filesystem::path& log) = 0;
};

}  // namespace edelta::reproduce
