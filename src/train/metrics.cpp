#include "train/metrics.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/atomic_file.h"
#include "base/checksum.h"
#include "base/input_file.h"
#include "edelta/base/error.h"

namespace edelta::train {
namespace {

constexpr size_t kLargestMetrics = size_t{4} << 30;
constexpr std::string_view kSum = ",\"sum\":\"";
constexpr size_t kSumDigits = 16;

std::string next_sum(const std::string& before, std::string_view entry) {
  return base::checksum_of(before + std::string(entry)).substr(0, kSumDigits);
}

// The entry of a line, whose sum takes the place of `sum`; null where the line is none.
nlohmann::json parse_line(std::string_view line, std::string& sum) {
  const size_t at = line.rfind(kSum);
  if (at == std::string_view::npos) return nullptr;
  const std::string entry = std::string(line.substr(0, at)) + "}";
  const std::string expected = next_sum(sum, entry);
  if (line.substr(at) != std::string(kSum) + expected + "\"}") return nullptr;
  sum = expected;
  return nlohmann::json::parse(entry, nullptr, /*allow_exceptions=*/false);
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& file, std::string sum)
    : path_(file), file_(std::fopen(file.c_str(), "abe"), &std::fclose), sum_(std::move(sum)) {
  if (!file_) fail();
}

void MetricsLog::add(const nlohmann::ordered_json& entry) {
  std::string line = entry.dump();
  sum_ = next_sum(sum_, line);
  line.pop_back();
  line += std::string(kSum) + sum_ + "\"}\n";
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fflush(file_.get()) != 0) {
    fail();
  }
}

void MetricsLog::sync() {
  // EINVAL: a file system that has nothing to sync.
  if (::fsync(::fileno(file_.get())) != 0 && errno != EINVAL) fail();
}

void MetricsLog::fail() const {
  throw Failure(fmt::format("{}: {}", path_.string(), std::strerror(errno)));
}

Metrics read_metrics_file(const std::filesystem::path& file, LineSums sums) {
  Metrics metrics;
  if (!base::is_there(file)) return metrics;
  metrics.text = base::read_text(file, kLargestMetrics);
  metrics.text.resize(metrics.text.rfind('\n') + 1);  // npos + 1 is 0
  std::string sum;
  for (size_t begin = 0; begin < metrics.text.size();) {
    const size_t end = metrics.text.find('\n', begin);
    const auto line = std::string_view(metrics.text).substr(begin, end - begin);
    auto entry = sums == LineSums::required ? parse_line(line, sum)
                                            : nlohmann::json::parse(line, nullptr, false);
    const auto iteration = entry.find("iteration");
    if (!entry.is_object() || iteration == entry.end() || !iteration->is_number_integer()) {
      throw InputError(fmt::format("{}: line {} is damaged, or one before it is missing",
                                   file.string(), metrics.entries.size() + 1));
    }
    if (sums == LineSums::required) entry["sum"] = sum;
    metrics.entries.push_back(std::move(entry));
    begin = end + 1;
    metrics.ends.push_back(begin);
  }
  return metrics;
}

std::string truncate_metrics_file(const std::filesystem::path& file, int64_t iteration) {
  const Metrics metrics = read_metrics_file(file);
  size_t kept = 0;
  while (kept < metrics.entries.size() &&
         metrics.entries[kept]["iteration"].get<int64_t>() <= iteration) {
    ++kept;
  }
  base::write_text_atomically(file, metrics.text.substr(0, kept == 0 ? 0 : metrics.ends[kept - 1]));
  return kept == 0 ? "" : metrics.entries[kept - 1]["sum"].get<std::string>();
}

}  // namespace edelta::train
