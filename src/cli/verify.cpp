// edelta verify: the paper's theorems as numerical experiments.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "edelta/base/error.h"
#include "edelta/verify/theorems.h"

namespace edelta::cli {
namespace {

struct VerifyOptions {
  verify::TheoremOptions theorems;
  bool json = false;
};

void verify(VerifyOptions options) {
  ProgressLine progress;
  options.theorems.on_check = [&](const verify::TheoremProgress& at) {
    progress.show(
        {fmt::format("{} of {}", at.number, at.total), at.id, fmt::format("n = {}", at.n)});
  };
  const verify::TheoremReport report = verify::verify_theorems(options.theorems);
  progress.erase();
  if (options.json) {
    print_json(verify::to_json(report));
  } else {
    fmt::print("{}", verify::to_table(report));
  }
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
      ->check(kSeed)
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
