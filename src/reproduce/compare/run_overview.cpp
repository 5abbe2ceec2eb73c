#include "reproduce/compare/run_overview.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/required_fields.h"
#include "edelta/train/checkpoint.h"

namespace edelta::reproduce {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::chrono::system_clock::time_point last_change(const train::RunFolder& run) {
  for (const fs::path& file : {run.result_file(), run.metrics_file(), run.config_file()}) {
    std::error_code error;
    const fs::file_time_type time = fs::last_write_time(file, error);
    if (!error) {
      return std::chrono::time_point_cast<std::chrono::system_clock::duration>(
          std::chrono::file_clock::to_sys(time));
    }
  }
  return {};
}

void add_result(const train::RunFolder& run, RunOverview& overview) {
  const json result = run.read_result();
  with_source(run.result_file().string(), [&] {
    overview.iteration = overview.config.train.iterations;
    overview.best_loss = base::required_number(result, "best_val_loss");
    overview.final_loss = base::required_number(result, "final_val_loss");
    overview.seconds = base::required_number(result, "seconds");
    const json measures = result.value("measures", json::object());
    const auto measured = [&](const char* name) {
      return measures.contains(name) ? std::optional(base::required_number(measures, name))
                                     : std::nullopt;
    };
    overview.bits_per_byte = measured("bits_per_byte");
    overview.solved = measured("exact_accuracy");
  });
}

void add_progress(const train::RunFolder& run, const RunLog& log, RunOverview& overview) {
  for (const LoggedStep& step : log) {
    overview.iteration = std::max(overview.iteration, step.iteration);
    if (step.bits_per_byte) overview.bits_per_byte = step.bits_per_byte;
    if (step.exact_accuracy) overview.solved = step.exact_accuracy;
    if (!step.val_loss || !std::isfinite(*step.val_loss)) continue;
    overview.best_loss = std::min(overview.best_loss.value_or(INFINITY), *step.val_loss);
  }
  if (fs::exists(run.checkpoint_file())) {
    const train::Progress progress = train::read_progress(run.checkpoint_file());
    overview.iteration = std::max(overview.iteration, progress.iteration);
    overview.seconds = progress.seconds;
  }
}

// `log` is called where the run's own result is not there yet.
template <class Log>
RunOverview overview_of(const fs::path& folder, const Log& log) {
  const train::RunFolder run(folder);
  RunOverview overview{.folder = folder,
                       .config = run.read_config(),
                       .state = train::run_state(run),
                       .best_loss = {},
                       .final_loss = {},
                       .bits_per_byte = {},
                       .solved = {},
                       .seconds = {},
                       .changed = last_change(run)};
  if (overview.state.phase == train::RunPhase::finished) {
    add_result(run, overview);
  } else {
    add_progress(run, log(run), overview);
  }
  return overview;
}

}  // namespace

std::string RunOverview::data() const {
  if (config.data.empty()) return config.task_name();
  const fs::path folder = fs::path(config.data).lexically_normal();
  return display_name(folder.has_filename() ? folder.filename() : folder.parent_path().filename());
}

std::string RunOverview::state_text() const {
  switch (state.phase) {
    case train::RunPhase::finished:
      return "finished";
    case train::RunPhase::running:
      return "running";
    case train::RunPhase::stopped:
      return "stopped";
  }
  return "?";
}

std::string RunOverview::iterations_text() const {
  const int64_t all = config.train.iterations;
  return iteration == all ? std::to_string(all) : fmt::format("{}/{}", iteration, all);
}

RunOverview read_overview(const fs::path& folder) { return overview_of(folder, read_log); }

RunOverview read_overview(const fs::path& folder, const RunLog& log) {
  return overview_of(folder, [&](const train::RunFolder&) -> const RunLog& { return log; });
}

std::string display_name(const fs::path& path) {
  // JSON's writer knows UTF-8 and puts U+FFFD for what is none.
  const std::string written =
      json(path.string()).dump(-1, ' ', false, json::error_handler_t::replace);
  std::string name = json::parse(written).get<std::string>();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return name;
}

}  // namespace edelta::reproduce
