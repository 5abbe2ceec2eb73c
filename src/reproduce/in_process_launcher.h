// Does the steps in the calling process: for programs that link the library and nothing else.
#pragma once

#include <functional>

#include "reproduce/launcher.h"

namespace edelta::reproduce {

// start() returns when the step is done, so that there is never more than one at a time.
class InProcessLauncher : public Launcher {
 public:
  // Trainings ask `stop_signal` after every iteration; give it to the runner too.
  explicit InProcessLauncher(std::function<int()> stop_signal = {})
      : stop_signal_(std::move(stop_signal)) {}

  std::unique_ptr<Job> start(const Step& step, int64_t threads,
                             const std::filesystem::path& log) override;

 private:
  std::function<int()> stop_signal_;
};

}  // namespace edelta::reproduce
