// edelta report: the page about a reproduction.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/input_file.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/print_json.h"
#include "cli/progress_line.h"
#include "edelta/base/error.h"
#include "reproduce/collect.h"
#include "reproduce/report/report.h"
#include "reproduce/results_json.h"

namespace edelta::cli {
namespace {

namespace fs = std::filesystem;

struct ReportOptions {
  std::string source;
  std::string out;
  bool json = false;
};

// As the file has it: the page shows settings in that order.
nlohmann::ordered_json read_ordered(const fs::path& file) {
  constexpr std::size_t kLimit = std::size_t{64} << 20;
  const std::string text = base::read_text(file, kLimit);
  base::parse_json(text, file.string());  // its errors name the file
  return nlohmann::ordered_json::parse(text);
}

void run_report(const ReportOptions& options) {
  const fs::path source = options.source;
  if (!fs::exists(source)) throw InputError(fmt::format("{} does not exist", options.source));
  fs::path folder = options.out;
  if (folder.empty()) folder = fs::is_directory(source) ? source : source.parent_path();
  ProgressLine progress;
  progress.show({"reading " + options.source});
  reproduce::Results results;
  nlohmann::ordered_json json;  // printed as it was read, with what else is in it
  if (fs::is_directory(source)) {
    results = reproduce::collect_results(source);
    json = to_json(results);
    base::make_folder(folder);
    base::write_json(folder / "results.json", json);
  } else {
    json = read_ordered(source);
    results = reproduce::results_from_json(json);
  }
  progress.show({"writing pages and figures"});
  const auto pages = reproduce::report::write_report(results, folder);
  progress.erase();
  if (options.json) {
    print_json(json);
    return;
  }
  for (const fs::path& page : pages) fmt::print("{}\n", page.string());
}

}  // namespace

void add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "report", "Write the page about a reproduction: tables, verdicts and figures");
  auto options = std::make_shared<ReportOptions>();
  command
      ->add_option("source", options->source,
                   "The folder of a reproduction, finished or not, or a results.json of one")
      ->type_name("DIR|FILE")
      ->required();
  command
      ->add_option("--out", options->out, "Another folder for the report than that of the source")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "Print the results as JSON instead of the paths");
  command->footer(
      "Writes results.json, report.html (one file, no network), report.md and figures/.\n"
      "Examples:\n  edelta report runs/reproduction\n"
      "  edelta report runs/reproduction/results.json --out page");
  command->callback([options] { run_report(*options); });
}

}  // namespace edelta::cli
