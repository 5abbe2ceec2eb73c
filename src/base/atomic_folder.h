// Folders that appear whole or not at all.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace edelta::base {

// Files are written to path(), a temporary folder beside the target; commit() gives it the target's
// name. Of several processes that write the same folder one is first, and the others replace it
// whole or are told that it is there. Without commit() the destructor removes the temporary.
class AtomicFolder {
 public:
  explicit AtomicFolder(const std::filesystem::path& target);
  ~AtomicFolder();
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;

  const std::filesystem::path& path() const { return temporary_; }

  // InputError where the target is there and not empty, unless `replace`: then a folder that holds
  // nothing but files of the names in `replaceable` gives way, and InputError names what else is in
  // it.
  void commit(bool replace, const std::set<std::string>& replaceable);

  // The same check, before any work is done.
  static void check(const std::filesystem::path& target, bool replace,
                    const std::set<std::string>& replaceable);

 private:
  void exchange();

  std::filesystem::path target_, temporary_;
  int descriptor_ = -1;  // holds the temporary's lock
};

}  // namespace edelta::base
