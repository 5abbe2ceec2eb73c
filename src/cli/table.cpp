#include "cli/table.h"

#include <algorithm>

#include "cli/display_width.h"

namespace edelta::cli {
namespace {

std::string pad(const std::string& text, size_t width, Align align) {
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return align == Align::left ? text + space : space + text;
}

}  // namespace

std::string Table::text() const {
  std::vector<size_t> shown, widths(columns_.size());
  for (size_t i = 0; i < columns_.size(); ++i) {
    const auto is_empty = [i](const auto& row) { return row[i] == kNothing; };
    if (columns_[i].optional && std::all_of(rows_.begin(), rows_.end(), is_empty)) continue;
    shown.push_back(i);
    widths[i] = display_width(columns_[i].title);
    for (const auto& row : rows_) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string text;
    for (const size_t i : shown) {
      text += (text.empty() ? "" : "  ") + pad(cell(i), widths[i], columns_[i].align);
    }
    out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  line([&](size_t i) { return columns_[i].title; });
  line([&](size_t i) { return std::string(widths[i], '-'); });
  for (const auto& row : rows_) line([&](size_t i) { return row[i]; });
  return out;
}

std::string with_commas(long long number) {
  std::string digits = std::to_string(number);
  const size_t sign = digits.starts_with('-') ? 1 : 0;
  for (size_t at = digits.size(); at > sign + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

}  // namespace edelta::cli
