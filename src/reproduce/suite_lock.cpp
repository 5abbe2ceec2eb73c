#include "reproduce/suite_lock.h"

#include <fmt/format.h>

#include <system_error>

#include "base/atomic_file.h"

namespace edelta::reproduce {
namespace {

namespace fs = std::filesystem;

// Makes a folder and its parents; the topmost of those that were not there.
fs::path make_missing(const fs::path& folder) {
  fs::path topmost;
  for (fs::path each = folder; !each.empty() && !fs::exists(each); each = each.parent_path()) {
    topmost = each;
  }
  base::make_folder(folder);
  return topmost;
}

bool is_alone(const fs::path& file) {
  std::error_code error;
  fs::directory_iterator entry(file.parent_path(), error);
  if (!error) entry.increment(error);
  return !error && entry == fs::directory_iterator();
}

}  // namespace

SuiteLock::SuiteLock(const SuiteFolder& folder)
    : file_(folder.path() / ".lock"),
      topmost_made_(make_missing(file_.parent_path())),
      lock_(file_,
            fmt::format("{}: another edelta reproduce is at work there", folder.path().string()),
            base::FileLock::Children::hold) {}

SuiteLock::~SuiteLock() {
  if (topmost_made_.empty() || !is_alone(file_)) return;
  std::error_code stays;
  fs::remove(file_, stays);
  for (fs::path folder = file_.parent_path(); fs::remove(folder, stays) && folder != topmost_made_;
       folder = folder.parent_path()) {
  }
}

}  // namespace edelta::reproduce
