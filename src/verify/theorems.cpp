#include "edelta/verify/theorems.h"

#include <fmt/format.h>

#include <algorithm>

#include "edelta/base/error.h"
#include "verify/theorem_samples.h"

namespace edelta::verify {
namespace {

constexpr int64_t kLargestBatch = int64_t{1} << 24;  // numbers in one batch of matrices: 128 MB

void validate(const TheoremOptions& options) {
  if (options.samples < 1) {
    throw InputError(fmt::format("samples is {}; it must be at least 1", options.samples));
  }
  if (options.seed < 0) {
    throw InputError(fmt::format("seed is {}; it must be at least 0", options.seed));
  }
  if (options.sizes.empty()) throw InputError("n is empty; give at least one size, such as 4");
  for (const int64_t n : options.sizes) {
    if (n < 2) {
      throw InputError(fmt::format("n is {}; it must be at least 2: a rotation needs a plane", n));
    }
    if (n > kLargestBatch || options.samples > kLargestBatch / n / n) {
      throw InputError(fmt::format(
          "samples = {} of n = {} do not fit into memory; samples·n² must be at most {}",
          options.samples, n, kLargestBatch));
    }
  }
}

}  // namespace

int64_t TheoremReport::failures() const {
  return std::count_if(rows.begin(), rows.end(),
                       [](const TheoremRow& row) { return !row.holds(); });
}

TheoremReport verify_theorems(const TheoremOptions& options, const OperatorsUnderTest& operators) {
  validate(options);
  const std::vector<Samples> samples = draw_samples(options);
  TheoremReport report{options, {}};
  for (const auto group :
       {rotation_theorems, reflection_theorems, hybrid_theorems, gate_theorems, peer_theorems}) {
    for (TheoremRow& row : group(samples, operators)) report.rows.push_back(std::move(row));
  }
  return report;
}

}  // namespace edelta::verify
