// One process at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace edelta::base {

// Holds a lock on a file, which is made if it is not there and names its holder in one line
// ("process 1234 on HOST"), for as long as the object lives. The system gives the lock back when a
// process ends, however it ends.
class FileLock {
 public:
  // Whether processes that this one starts hold the lock too, until the last of them has ended.
  enum class Children { leave, hold };

  // InputError "`work` (process 1234 on HOST)" where another process holds it. Where the holder has
  // ended and its children have not, they are waited for.
  FileLock(const std::filesystem::path& file, const std::string& work,
           Children children = Children::leave);
  ~FileLock();

  // The line about who holds the lock on `file`; nothing where nobody does.
  static std::optional<std::string> holder(const std::filesystem::path& file);

  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace edelta::base
