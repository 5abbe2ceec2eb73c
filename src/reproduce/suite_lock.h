// One runner at a time in a suite's folder.
#pragma once

#include <filesystem>

#include "base/file_lock.h"
#include "reproduce/suite_folder.h"

namespace edelta::reproduce {

// Keeps other runners out of the folder while it lives; children of a runner that was killed hold
// it too until they have saved. InputError when another runner is at work there. Folders that are
// made for it go away with it where nothing else has come into them: a text was bad, say.
class SuiteLock {
 public:
  explicit SuiteLock(const SuiteFolder& folder);
  ~SuiteLock();
  SuiteLock(const SuiteLock&) = delete;
  SuiteLock& operator=(const SuiteLock&) = delete;

 private:
  std::filesystem::path file_;
  std::filesystem::path topmost_made_;  // empty where the suite's folder was there
  base::FileLock lock_;
};

}  // namespace edelta::reproduce
