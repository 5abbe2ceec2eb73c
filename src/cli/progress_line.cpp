#include "cli/progress_line.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/display_width.h"
#include "cli/notice.h"

namespace edelta::cli {
namespace {

// Asked anew for each line: windows change their size.
std::size_t terminal_columns() {
  constexpr std::size_t kUnknown = 80;
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUnknown;
}

// What takes a line of that width away. A window that became narrower than it has wrapped it: the
// cursor stands in its last row.
std::string erasing(std::size_t width, std::size_t columns) {
  const std::size_t rows = (width + columns - 1) / columns;
  return rows > 1 ? fmt::format("\033[{}A\r\033[J", rows - 1) : "\r\033[K";
}

// Its first `columns` characters, whole ones.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t end = 0;
  for (; columns > 0 && end < text.size(); --columns) {
    end += base::first_character(std::string_view(text).substr(end)).bytes;
  }
  return text.substr(0, end);
}

}  // namespace

std::string fitted(const std::vector<std::string>& parts, std::size_t columns) {
  constexpr const char* kGap = "  ";
  std::string line;
  for (const std::string& part : parts) {
    const std::string longer = line.empty() ? cut(part, columns) : line + kGap + part;
    if (display_width(longer) <= columns) line = longer;
  }
  return line;
}

ProgressLine::ProgressLine() : terminal_(isatty(STDERR_FILENO) != 0) {
  if (!terminal_) shown_ = Clock::now();
}

void ProgressLine::show(const std::vector<std::string>& parts) {
  const double pause = terminal_ ? 0.2 : 10;
  if (std::chrono::duration<double>(Clock::now() - shown_).count() >= pause) show_now(parts);
}

void ProgressLine::show_now(const std::vector<std::string>& parts) {
  shown_ = Clock::now();
  if (!terminal_) {
    notice("{}\n", fmt::join(parts, "  "));
    return;
  }
  const std::size_t columns = terminal_columns();
  // The last column stays free: some terminals go to the next line as soon as it is filled.
  const std::string line = fitted(parts, columns - 1);
  notice("{}{}", erasing(width_, columns), line);
  width_ = display_width(line);
}

void ProgressLine::finish() {
  if (width_ > 0) notice("\n");
  width_ = 0;
}

void ProgressLine::erase() {
  if (width_ > 0) notice("{}", erasing(width_, terminal_columns()));
  width_ = 0;
}

}  // namespace edelta::cli
