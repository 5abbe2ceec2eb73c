// How far a long command is, on standard error.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace edelta::cli {

// On a terminal one line that is rewritten, never wider than the terminal; elsewhere a plain line
// every ten seconds, so that work which is done sooner says nothing. Failing to write stops
// nothing.
class ProgressLine {
 public:
  ProgressLine();
  // What is left open is erased: an error message or a result is about to follow.
  ~ProgressLine() { erase(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // The parts of the line, the most important first. Too soon after the last it is not shown.
  void show(const std::vector<std::string>& parts);
  // The same at once, however soon: what the command ends with.
  void show_now(const std::vector<std::string>& parts);
  // Before something else is said: leaves the line as it is, or takes it away.
  void finish();
  void erase();

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  std::size_t width_ = 0;  // of the line behind which the cursor stands
  Clock::time_point shown_;
};

// The parts, two spaces apart, in at most `columns`: those that do not fit are left out, and the
// first is cut where it alone is too wide.
std::string fitted(const std::vector<std::string>& parts, std::size_t columns);

}  // namespace edelta::cli
