// How far text is turned into tokens.
#pragma once

#include <chrono>
#include <optional>

#include "cli/progress_line.h"
#include "edelta/data/text.h"

namespace edelta::cli {

class TextProgressLine {
 public:
  // Interrupted once a signal has come.
  void show(const data::TextProgress& progress);

 private:
  ProgressLine line_;
  std::optional<std::chrono::steady_clock::time_point> began_;
};

}  // namespace edelta::cli
