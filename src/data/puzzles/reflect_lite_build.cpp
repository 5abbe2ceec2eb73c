#include "data/puzzles/reflect_lite_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/atomic_folder.h"
#include "data/puzzles/puzzle_files.h"
#include "edelta/base/error.h"
#include "edelta/base/json_fields.h"

namespace edelta::data {
namespace {

namespace fs = std::filesystem;

const std::set<std::string>& reflect_lite_names() {
  static const std::set<std::string> names{"reflect", "control", kReflectLiteFile};
  return names;
}

ArcCounts write_slice(const fs::path& folder, const std::string& name,
                      const std::vector<std::string>& chosen, const std::vector<ArcTask>& tasks,
                      const ArcOptions& options, const OnPuzzleProgress& on_progress) {
  std::vector<ArcTask> of_slice;
  for (const ArcTask& task : tasks) {
    const std::string qualified = task.subset + "/" + task.id;
    if (std::find(chosen.begin(), chosen.end(), qualified) != chosen.end()) {
      of_slice.push_back(task);
    }
  }
  base::make_folder(folder / name);
  ArcCounts counts;
  with_source(fmt::format("the {} slice", name), [&] {
    counts = write_arc(folder / name, std::move(of_slice), options, on_progress);
  });
  nlohmann::ordered_json written = options_to_json(options);
  written["slice"] = name;
  write_puzzle_options(folder / name, written);
  return counts;
}

nlohmann::ordered_json to_json(const ReflectLite& selected) {
  nlohmann::ordered_json records = nlohmann::ordered_json::array();
  for (const ReflectRecord& record : selected.records) {
    records.push_back({record.task, record.reflect, record.rotation, record.identity,
                       record.non_reflect, record.pairs, slice_name(record.slice)});
  }
  return {{"reflect", selected.reflect},
          {"control", selected.control},
          {"records", std::move(records)}};
}

}  // namespace

std::int64_t ReflectLite::candidates(Slice slice) const {
  return std::count_if(records.begin(), records.end(),
                       [&](const ReflectRecord& record) { return record.slice == slice; });
}

ReflectLite select_reflect_lite(const std::vector<ArcTask>& tasks, SliceSample sample,
                                std::uint64_t seed) {
  ReflectLite selected;
  for (const ArcTask& task : tasks) selected.records.push_back(reflect_record(task));
  selected.reflect = slice_tasks(selected.records, Slice::reflect, sample, seed);
  selected.control = slice_tasks(selected.records, Slice::control, sample, seed);
  return selected;
}

void require_free_reflect_lite_folder(const fs::path& folder, bool replace) {
  base::AtomicFolder::check(folder, replace, reflect_lite_names());
  for (const char* slice : {"reflect", "control"}) {
    require_free_puzzle_folder(folder / slice, replace);
  }
}

ReflectLiteCounts write_reflect_lite(const fs::path& target, bool replace,
                                     const std::vector<ArcTask>& tasks, const ReflectLite& selected,
                                     const ArcOptions& options,
                                     const OnPuzzleProgress& on_progress) {
  base::AtomicFolder writing(target);
  ReflectLiteCounts counts;
  counts.reflect =
      write_slice(writing.path(), "reflect", selected.reflect, tasks, options, on_progress);
  counts.control =
      write_slice(writing.path(), "control", selected.control, tasks, options, on_progress);
  base::write_text_atomically(writing.path() / kReflectLiteFile, to_json(selected).dump() + "\n");
  require_free_reflect_lite_folder(target, replace);
  writing.commit(replace, reflect_lite_names());
  return counts;
}

}  // namespace edelta::data
