// Makes the two data sets of ARC-Reflect-Lite (specification 12.5).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/puzzles/arc_build.h"
#include "data/puzzles/reflect_lite.h"

namespace edelta::data {

inline constexpr const char* kReflectLiteFile = "reflect_lite.json";

struct ReflectLite {
  std::vector<ReflectRecord> records;  // of all tasks
  std::vector<std::string> reflect, control;

  std::int64_t candidates(Slice slice) const;
};

// Labels the tasks and takes those of the slices.
ReflectLite select_reflect_lite(const std::vector<ArcTask>& tasks, SliceSample sample,
                                std::uint64_t seed);

// As for a folder of puzzles, which each slice's is.
void require_free_reflect_lite_folder(const std::filesystem::path& folder, bool replace);

struct ReflectLiteCounts {
  ArcCounts reflect, control;
};

// TARGET/reflect, TARGET/control and the list of what was selected; whole or not at all.
ReflectLiteCounts write_reflect_lite(const std::filesystem::path& target, bool replace,
                                     const std::vector<ArcTask>& tasks, const ReflectLite& selected,
                                     const ArcOptions& options,
                                     const OnPuzzleProgress& on_progress);

}  // namespace edelta::data
