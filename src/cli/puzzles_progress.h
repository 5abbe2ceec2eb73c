// How far puzzles that are made are.
#pragma once

#include <fmt/format.h>

#include "cli/interrupted.h"
#include "cli/progress_line.h"
#include "cli/stop_signal.h"
#include "edelta/data/puzzle_task.h"

namespace edelta::cli {

// Interrupted once a signal has come that is remembered.
class PuzzlesProgress {
 public:
  explicit PuzzlesProgress(bool quiet = false) : quiet_(quiet) {}

  void show(const data::PuzzleProgress& progress) {
    if (received_signal() != 0) throw Interrupted(received_signal());
    if (!quiet_)
      line_.show({fmt::format("{} of {} {}", progress.done, progress.all, progress.doing)});
  }

 private:
  bool quiet_;
  ProgressLine line_;
};

}  // namespace edelta::cli
