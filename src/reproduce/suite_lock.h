// One runner at a time in a suite's folder.
#pragma once

#include <filesystem>

#include "base/file_lock.h"
#include "reproduce/suite_folder.h"

namespace edelta::reproduce {

// Keeps other runners out of the folder while it lives; children of a runner that was killed hold
// it too until they have saved. InputError when another runner is at work there. A folder that is
// made for it goes away with it where nothing else has come into it: its text was bad, say.
class SuiteLock {
 public:
  explicit SuiteLock(const SuiteFolder& folder);
  ~SuiteLock();
  SuiteLock(const SuiteLock&) = delete;
  SuiteLock& operator=(const SuiteLock&) = delete;

 private:
  std::filesystem::path file_;
  bool made_folder_;
  base::FileLock lock_;
};

}  // namespace edelta::reproduce
