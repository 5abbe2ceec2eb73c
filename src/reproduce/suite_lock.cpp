#include "reproduce/suite_lock.h"

#include <fmt/format.h>

#include "base/atomic_file.h"

namespace edelta::reproduce {
namespace {

std::filesystem::path lock_file(const SuiteFolder& folder) {
  base::make_folder(folder.path());
  return folder.path() / ".lock";
}

}  // namespace

SuiteLock::SuiteLock(const SuiteFolder& folder)
    : lock_(lock_file(folder),
            fmt::format("{}: another edelta reproduce is at work there", folder.path().string()),
            base::FileLock::Children::hold) {}

}  // namespace edelta::reproduce
