// edelta verify: the paper's theorems as numerical experiments.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "edelta/base/error.h"
#include "edelta/verify/theorems.h"

namespace edelta::cli {
namespace {

struct VerifyOptions {
  verify::TheoremOptions theorems;
  bool json = false;
};

void verify(const VerifyOptions& options) {
  const verify::TheoremReport report = verify::verify_theorems(options.theorems);
  if (options.json) {
    std::cout << verify::to_json(report).dump(2) << "\n";
  } else {
    std::cout << verify::to_table(report);
  }
  std::cout.flush();
  if (report.all_hold()) return;
  throw Failure(fmt::format("{} of {} statements fail", report.failures(), report.rows.size()));
}

}  // namespace

void add_verify(CLI::App& app) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app.add_subcommand(
      "verify", "Check every theorem of the paper numerically, on the operators that train");
  command->add_option("--samples", options->theorems.samples, "Random operators of each size")
      ->capture_default_str();
  command->add_option("--n", options->theorems.sizes, "Sizes of the operators")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--seed", options->theorems.seed, "Of the random operators")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Examples:\n"
      "  edelta verify\n"
      "  edelta verify --n 4,32 --samples 1000 --seed 7\n"
      "  edelta verify --json | jq '.rows[] | select(.verdict == \"fails\")'\n"
      "Exit code 1 when a statement fails.");
  command->callback([options] { verify(*options); });
}

}  // namespace edelta::cli
