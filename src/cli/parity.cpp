// edelta parity: compares trace files of another implementation with this one.
#include "edelta/verify/parity.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/machine_options.h"
#include "cli/notice.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "cli/table.h"
#include "edelta/base/error.h"

namespace edelta::cli {
namespace {

using verify::Comparison;
using verify::ParityReport;
using verify::ParityTolerance;

// How much more error a gradient may have than a value.
constexpr double kGradientFactor = 10;

struct ParityOptions {
  std::vector<std::string> files;
  std::string dtype = "both";
  std::optional<double> tolerance;
  bool json = false;
};

std::string name_of(torch::ScalarType dtype) {
  return dtype == torch::kFloat64 ? "float64" : "float32";
}

nlohmann::ordered_json to_json(const ParityReport& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Comparison& comparison : report.comparisons) {
    rows.push_back({{"tensor", comparison.tensor},
                    {"error", comparison.error},
                    {"tolerance", comparison.tolerance},
                    {"holds", comparison.holds()}});
  }
  return {{"file", report.file},     {"kind", report.kind},       {"dtype", name_of(report.dtype)},
          {"holds", report.holds()}, {"notices", report.notices}, {"comparisons", rows}};
}

std::vector<std::string> to_row(const ParityReport& report) {
  std::vector<std::string> row{std::filesystem::path(report.file).filename().string(),
                               name_of(report.dtype)};
  for (const bool gradient : {false, true}) {
    const Comparison* worst = report.worst(gradient);
    row.push_back(worst != nullptr ? fmt::format("{:.1e}", worst->error) : "-");
    row.push_back(worst != nullptr ? worst->tensor : "-");
  }
  row.push_back(report.holds() ? "holds" : "FAILS");
  return row;
}

void run_parity(const ParityOptions& options) {
  std::optional<ParityTolerance> tolerance;
  if (options.tolerance) {
    if (!(*options.tolerance >= 0)) throw InputError("--tolerance must not be negative");
    tolerance = ParityTolerance{*options.tolerance, kGradientFactor * *options.tolerance};
  }
  std::vector<torch::ScalarType> dtypes;
  if (options.dtype != "float32") dtypes.push_back(torch::kFloat64);
  if (options.dtype != "float64") dtypes.push_back(torch::kFloat32);

  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  Table table({{"file"},
               {"dtype"},
               {"value error", Align::right},
               {"in"},
               {"gradient error", Align::right},
               {"in"},
               {"verdict"}});
  int failed = 0;
  ProgressLine progress;
  for (const std::string& file : options.files) {
    for (const torch::ScalarType dtype : dtypes) {
      progress.show({fmt::format("{} of {}", json.size() + 1, options.files.size() * dtypes.size()),
                     name_of(dtype), file});
      const ParityReport report = verify::check_parity(file, dtype, tolerance);
      failed += report.holds() ? 0 : 1;
      json.push_back(to_json(report));
      table.add(to_row(report));
      if (!report.notices.empty()) progress.erase();
      for (const std::string& note : report.notices) notice("note: {}\n", note);
    }
  }
  progress.erase();
  if (options.json) {
    print_json(json);
  } else {
    fmt::print("{}", table.text());
  }
  if (failed > 0)
    throw Failure(fmt::format("{} of {} checks are outside tolerance", failed, json.size()));
}

}  // namespace

void add_parity(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "parity", "Rebuild models from trace files and compare outputs, losses and gradients");
  auto options = std::make_shared<ParityOptions>();
  command->add_option("FILE", options->files, "Trace files (docs/traces.md has the format)")
      ->required();
  command->add_option("--dtype", options->dtype, "Compute in float32, float64 or both")
      ->check(CLI::IsMember({"float32", "float64", "both"}))
      ->capture_default_str();
  command->add_option(
      "--tolerance", options->tolerance,
      "Largest relative error of outputs and losses, ten times that for gradients\n"
      "(default: 1e-9 in float64, 2e-5 in float32; for a whole training, 1e-8 and 1e-3)");
  add_machine_options(*command);
  command->add_flag("--json", options->json, "Print every comparison as JSON");
  command->footer(
      "Errors are relative to each tensor's largest magnitude.\n\nExample:\n"
      "  edelta parity trace.safetensors --dtype float64");
  command->callback([options] { run_parity(*options); });
}

}  // namespace edelta::cli
