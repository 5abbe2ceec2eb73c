// The golden traces (inputs, parameters, outputs, gradients), where they are present.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace edelta::test {

// `name` in $EDELTA_GOLDEN_DIR, or else in ../shared/golden next to the source tree. A test that
// gets nothing says GTEST_SKIP().
inline std::optional<std::filesystem::path> golden_file(const std::string& name) {
  const char* folder = std::getenv("EDELTA_GOLDEN_DIR");
  const std::filesystem::path tree = std::filesystem::path(__FILE__).parent_path().parent_path();
  const std::filesystem::path path =
      (folder ? std::filesystem::path(folder) : tree / ".." / "shared" / "golden") / name;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return path;
}

}  // namespace edelta::test
