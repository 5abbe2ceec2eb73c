// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace edelta::base {

// Writes under a temporary name in the target's folder; commit() flushes it to the disk and renames
// it, so that a reader, or a run resumed after a crash, finds the old content or the new one and
// never a part of it. Without commit() the destructor removes the temporary. Every error removes it
// too and throws Failure with the path and the system's reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void commit();

 private:
  [[noreturn]] void fail(int error);
  void discard() noexcept;

  std::filesystem::path path_;    // as given, for messages
  std::filesystem::path target_;  // what it leads to
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

void write_text_atomically(const std::filesystem::path& path, std::string_view text);

// Creates a folder and its parents; Failure with the path and the reason.
void make_folder(const std::filesystem::path& folder);

}  // namespace edelta::base
