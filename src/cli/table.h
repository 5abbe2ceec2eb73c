// Plain text tables for the terminal.
#pragma once

#include <string>
#include <vector>

namespace edelta::cli {

enum class Align { left, right };

// Columns as wide as their widest cell, two spaces apart, a rule under the header.
class Table {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
    bool optional = false;  // not shown where every cell is a dash
  };

  static constexpr const char* kNothing = "-";

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// 1234567 → "1,234,567".
std::string with_commas(long long number);

}  // namespace edelta::cli
