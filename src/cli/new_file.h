// Files that a command is asked to write.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "cli/standard_streams.h"
#include "edelta/base/error.h"

namespace edelta::cli {

// Asked before anything is computed for it: what is there stays unless the user says otherwise.
inline void require_new(const std::string& path, bool force) {
  if (path == kStandardStream) throw InputError("- is no file to write to; name one");
  if (std::filesystem::is_directory(path)) {
    throw InputError(fmt::format("{} is a folder; a file is to be written", path));
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw InputError(fmt::format("{} cannot be written: {} is no folder", path, folder.string()));
  }
  if (!force && std::filesystem::exists(path)) {
    throw InputError(fmt::format("{} is there already; --force overwrites it", path));
  }
}

}  // namespace edelta::cli
