// edelta report: the page about a reproduction.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "edelta/error.h"
#include "edelta/experiments/report.h"
#include "edelta/experiments/results.h"
#include "edelta/io/atomic_file.h"
#include "edelta/io/input_file.h"
#include "edelta/io/json.h"

namespace edelta::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string source;
  std::string out;
  bool json = false;
};

// As the file has it: the page shows settings in that order.
nlohmann::ordered_json read_ordered(const fs::path& file) {
  constexpr std::size_t kLimit = std::size_t{64} << 20;
  const std::string text = io::read_text(file, kLimit);
  io::parse_json(text, file.string());  // its errors name the file
  return nlohmann::ordered_json::parse(text);
}

nlohmann::ordered_json load_results(const fs::path& source, const fs::path& folder) {
  if (!fs::is_directory(source)) return read_ordered(source);
  nlohmann::ordered_json results = experiments::collect_results(source);
  io::make_folder(folder);
  io::write_json(folder / "results.json", results);
  return results;
}

void run(const Options& options) {
  const fs::path source = options.source;
  if (!fs::exists(source)) throw InputError(fmt::format("{} does not exist", options.source));
  fs::path folder = options.out;
  if (folder.empty()) folder = fs::is_directory(source) ? source : source.parent_path();
  const nlohmann::ordered_json results = load_results(source, folder);
  const auto pages = experiments::write_report(results, folder);
  if (options.json) {
    fmt::print("{}\n", results.dump(2));
    return;
  }
  for (const fs::path& page : pages) fmt::print("{}\n", page.string());
}

}  // namespace

void add_report(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "report", "Write the page about a reproduction: tables, verdicts and figures");
  auto options = std::make_shared<Options>();
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
  command->callback([options] { run(*options); });
}

}  // namespace edelta::cli
