#include "reproduce/report/text_layout.h"

#include <algorithm>

namespace edelta::reproduce::report {

double text_width(const std::string& text, double font) {
  const auto characters =
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return 0.53 * font * static_cast<double>(characters);
}

std::vector<std::string> wrapped(const std::string& text, double width, double font) {
  std::vector<std::string> lines;
  std::string line;
  const auto trimmed = [](const std::string& text) {
    return text.substr(0, text.find_last_not_of(' ') + 1);
  };
  for (size_t start = 0; start < text.size();) {
    const size_t end = std::min(text.find_first_of(" -", start), text.size() - 1) + 1;
    const std::string word = text.substr(start, end - start);
    if (!line.empty() && text_width(trimmed(line + word), font) > width) {
      lines.push_back(trimmed(line));
      line.clear();
    }
    line += word;
    start = end;
  }
  if (!line.empty()) lines.push_back(trimmed(line));
  return lines;
}

}  // namespace edelta::reproduce::report
