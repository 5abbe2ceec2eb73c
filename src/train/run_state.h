// Whether a run has finished, goes on or was stopped.
#pragma once

#include <string>

#include "edelta/train/run_folder.h"

namespace edelta::train {

enum class RunPhase { finished, running, stopped };

struct RunState {
  RunPhase phase = RunPhase::stopped;
  std::string holder = {};  // of a running one, "process 1234 on HOST"; empty where it does not say
};

// A process that trains holds an exclusive lock on RUN/lock, which ends with it however it ends.
// This only asks for a shared one and gives it back at once.
RunState run_state(const RunFolder& run);

}  // namespace edelta::train
