// A training on one line.
#pragma once

#include <string>
#include <vector>

#include "cli/progress_line.h"
#include "edelta/train/trainer.h"

namespace edelta::cli {

// The iteration, losses and the time left come first: a narrow terminal shows no more.
std::vector<std::string> progress_parts(const train::StepReport& report);

class TrainingProgress {
 public:
  // How far it came stays to be read when a training fails.
  ~TrainingProgress() { finish(); }

  void operator()(const train::StepReport& report) {
    const bool last = report.iteration == report.iterations;
    last ? line_.show_now(progress_parts(report)) : line_.show(progress_parts(report));
  }
  void finish() { line_.finish(); }

 private:
  ProgressLine line_;
};

}  // namespace edelta::cli
