// edelta inspect: the residual operators of a trained model, layer by layer and as a product.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "cli/run_options.h"
#include "cli/table.h"
#include "edelta/base/error.h"
#include "edelta/probes/probes.h"

namespace edelta::cli {
namespace {

struct InspectOptions : RunOptions {
  int64_t sequences = 16;
};

std::string angles_text(const std::vector<double>& angles) {
  std::string text;
  for (const double angle : angles) text += fmt::format("{}{:.3f}", text.empty() ? "" : " ", angle);
  return text;
}

void run_inspect(const InspectOptions& options) {
  const auto model = options.model();
  const torch::Tensor x = options.training_data()->validation_input(options.sequences);
  ProgressLine progress;
  progress.show({fmt::format("the operators on {} sequences", x.size(0))});
  const auto summaries = probes::inspect_operators(*model, x);
  progress.erase();
  if (summaries.empty()) {
    throw InputError(fmt::format("{}: this {} model has no operators on streams", options.run,
                                 model->config().model));
  }
  if (options.json) {
    print_json(probes::to_json(summaries));
    return;
  }
  Table table({{"operator"},
               {"γ", Align::right},
               {"det", Align::right},
               {"‖GᵀG−I‖max", Align::right},
               {"singular values", Align::right},
               {"eigenvalue angles |arg λ|"}});
  for (const auto& summary : summaries) {
    table.add({summary.name, summary.gamma ? fmt::format("{:.3f}", *summary.gamma) : "-",
               fmt::format("{:+.4f}", summary.mean_determinant),
               fmt::format("{:.2e}", summary.orthogonality_error),
               fmt::format("{:.4f}…{:.4f}", summary.smallest_singular, summary.largest_singular),
               angles_text(summary.eigen_angles)});
  }
  fmt::print("{}", table.text());
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "inspect", "Show a run's residual operators: γ, det, orthogonality, eigenvalues, product");
  auto options = std::make_shared<InspectOptions>();
  add_run_options(*command, *options);
  add_data_option(*command, *options);
  command->add_option("--sequences", options->sequences, "Validation sequences to look at")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command->footer(
      "γ, det and the angles, smallest first, are means over the operators of all sequences; the\n"
      "orthogonality error is the largest, and the singular values go from the smallest to the\n"
      "largest of them.\n\n"
      "Example:\n  edelta inspect runs/mine");
  command->callback([options] { run_inspect(*options); });
}

}  // namespace edelta::cli
