// What there is to say of a run on one line.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "edelta/train/config.h"
#include "reproduce/run_log.h"
#include "train/run_state.h"

namespace edelta::reproduce {

struct RunOverview {
  std::filesystem::path folder;
  train::TrainConfig config;
  train::RunState state;
  int64_t iteration = 0;                        // as far as it has logged
  std::optional<double> best_loss, final_loss;  // of validation; the final one when it has finished
  // As last measured: of text, and the share of the test puzzles.
  std::optional<double> bits_per_byte, solved;
  std::optional<double> seconds;                  // of training, up to the last checkpoint
  std::chrono::system_clock::time_point changed;  // when it last logged or finished

  // The task's name or the data folder's.
  std::string data() const;
  // "finished", "running" or "stopped".
  std::string state_text() const;
  // "2000", or "300/2000" where it has not come to its end.
  std::string iterations_text() const;
};

// InputError, with the reason, for a folder that is no run or whose files are damaged. A run that
// is being trained may be looked at.
RunOverview read_overview(const std::filesystem::path& folder);
// The same with what the run has logged, where that is wanted anyway.
RunOverview read_overview(const std::filesystem::path& folder, const RunLog& log);

// The name of a file or folder on one line, as valid UTF-8 without control characters: names are
// anybody's, and are printed to terminals and pages.
std::string display_name(const std::filesystem::path& path);

}  // namespace edelta::reproduce
