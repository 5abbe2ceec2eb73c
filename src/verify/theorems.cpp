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
  Statements statements;
  for (const auto group : {rotation_theorems, reflection_theorems, hybrid_theorems, gate_theorems,
                           geodesic_theorems, unitary_theorems, peer_theorems}) {
    for (const Statement& statement : group()) statements.push_back(statement);
  }
  SampleSet samples = draw_samples(options);
  TheoremReport report{options, {}};
  report.options.on_check = nullptr;  // it may not outlive this call
  for (const auto& [id, check] : statements) {
    if (options.on_check) {
      TheoremProgress progress{.id = id,
                               .number = static_cast<int64_t>(report.rows.size()) + 1,
                               .total = static_cast<int64_t>(statements.size())};
      samples.on_size = [&options, progress](int64_t n) mutable {
        progress.n = n;
        options.on_check(progress);
      };
    }
    report.rows.push_back(check(samples, operators));
    report.rows.back().id = id;
  }
  return report;
}

}  // namespace edelta::verify
