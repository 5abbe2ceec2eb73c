// One runner at a time in a suite's folder.
#pragma once

#include "base/file_lock.h"
#include "reproduce/suite_folder.h"

namespace edelta::reproduce {

// Keeps other runners out of the folder while it lives; children of a runner that was killed hold
// it too until they have saved. InputError when another runner is at work there.
class SuiteLock {
 public:
  explicit SuiteLock(const SuiteFolder& folder);

 private:
  base::FileLock lock_;
};

}  // namespace edelta::reproduce
