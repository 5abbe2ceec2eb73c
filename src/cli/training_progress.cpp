#include "cli/training_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "cli/duration.h"

namespace edelta::cli {
namespace {

// One gate's γ, or the mean and range of several.
std::string gates_text(const std::vector<double>& gates) {
  const double mean =
      std::accumulate(gates.begin(), gates.end(), 0.0) / static_cast<double>(gates.size());
  std::string text = fmt::format("γ {:.2f}", mean);
  if (gates.size() > 1) {
    const auto [smallest, largest] = std::minmax_element(gates.begin(), gates.end());
    text += fmt::format(" [{:.2f}, {:.2f}]", *smallest, *largest);
  }
  return text;
}

}  // namespace

std::vector<std::string> progress_parts(const train::StepReport& report) {
  const std::string total = std::to_string(report.iterations);
  std::vector<std::string> parts{fmt::format("{:>{}}/{}", report.iteration, total.size(), total),
                                 fmt::format("loss {:.3e}", report.train_loss)};
  if (report.val_loss) parts.push_back(fmt::format("val {:.3e}", *report.val_loss));
  if (const auto exact = report.measures.find("exact_accuracy"); exact != report.measures.end()) {
    parts.push_back(fmt::format("solved {:.1f} %", 100 * exact->second));
  }
  parts.push_back(fmt::format("{} left", duration(report.seconds_left)));
  if (!report.gates.empty()) parts.push_back(gates_text(report.gates));
  parts.push_back(fmt::format("{:.0f} tokens/s", report.tokens_per_second));
  return parts;
}

}  // namespace edelta::cli
