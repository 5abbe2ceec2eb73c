#include "reproduce/suite_lock.h"

#include <fmt/format.h>

#include <iterator>
#include <system_error>

#include "base/atomic_file.h"

namespace edelta::reproduce {
namespace {

namespace fs = std::filesystem;

bool make_folder_of(const fs::path& file) {
  const bool missing = !fs::exists(file.parent_path());
  base::make_folder(file.parent_path());
  return missing;
}

bool is_alone(const fs::path& file) {
  std::error_code unreadable;
  const fs::directory_iterator folder(file.parent_path(), unreadable);
  return !unreadable && std::distance(begin(folder), end(folder)) == 1;
}

}  // namespace

SuiteLock::SuiteLock(const SuiteFolder& folder)
    : file_(folder.path() / ".lock"),
      made_folder_(make_folder_of(file_)),
      lock_(file_,
            fmt::format("{}: another edelta reproduce is at work there", folder.path().string()),
            base::FileLock::Children::hold) {}

SuiteLock::~SuiteLock() {
  if (!made_folder_ || !is_alone(file_)) return;
  std::error_code stays;
  fs::remove(file_, stays);
  fs::remove(file_.parent_path(), stays);
}

}  // namespace edelta::reproduce
