#include "train/run_state.h"

#include "base/file_lock.h"

namespace edelta::train {

RunState run_state(const RunFolder& run) {
  if (run.finished()) return {RunPhase::finished};
  // A lock nobody holds is as good as none: a run that was killed leaves it behind.
  if (const auto trainer = base::FileLock::holder(run.lock_file())) {
    return {RunPhase::running, *trainer};
  }
  return {RunPhase::stopped};
}

}  // namespace edelta::train
