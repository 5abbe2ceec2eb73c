// One process at a time trains a run.
#pragma once

#include <fmt/format.h>

#include "base/file_lock.h"
#include "edelta/train/run_folder.h"

namespace edelta::train {

// InputError that names the process which trains it.
inline base::FileLock lock_run(const RunFolder& run) {
  return base::FileLock(run.lock_file(),
                        fmt::format("{}: another process trains it", run.path().string()));
}

}  // namespace edelta::train
