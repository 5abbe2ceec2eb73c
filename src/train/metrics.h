// metrics.jsonl: one object a line, each with a checksum ("sum") of itself and of the line before,
// so that a changed or missing line is noticed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace edelta::train {

// Appends lines; one that can't be written is a Failure.
class MetricsLog {
 public:
  // `sum`: that of the last line that is there; empty if there is none.
  MetricsLog(const std::filesystem::path& file, std::string sum);

  void add(const nlohmann::ordered_json& entry);
  // Until the disk has it: a checkpoint must not know of lines that a power cut takes away.
  void sync();
  // Of the last line.
  const std::string& sum() const { return sum_; }

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string sum_;
};

struct Metrics {
  std::vector<nlohmann::json> entries;
  std::string text;               // of the whole lines
  std::vector<std::size_t> ends;  // where each line ends in it
};

// Version 0.1.0 wrote lines without sums.
enum class LineSums { required, none };

// A last line that a crash cut off is left out; any other that is damaged is an InputError with its
// number. A file that is not there has no lines.
Metrics read_metrics_file(const std::filesystem::path& file, LineSums sums = LineSums::required);

// Drops the lines after `iteration`; the sum of the last that is kept.
std::string truncate_metrics_file(const std::filesystem::path& file, int64_t iteration);

}  // namespace edelta::train
