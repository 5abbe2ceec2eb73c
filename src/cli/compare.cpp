// edelta compare: runs side by side, in the terminal and on a page.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/atomic_file.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/measure_cells.h"
#include "cli/new_file.h"
#include "cli/plot.h"
#include "cli/print_json.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "reproduce/compare/comparison_page.h"

namespace edelta::cli {
namespace {

using nlohmann::ordered_json;
using reproduce::ComparedRun;
using reproduce::Comparison;
using reproduce::LoggedStep;

struct CompareOptions {
  std::vector<std::string> runs;
  std::string out;
  std::string title = "Comparison of runs";
  bool force = false;
  bool json = false;
};

ordered_json or_null(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json to_json(const ComparedRun& run) {
  const reproduce::RunOverview& overview = run.overview;
  ordered_json validation = ordered_json::array();
  for (const auto& [iteration, loss] : logged(run.log, &LoggedStep::val_loss)) {
    validation.push_back({{"iteration", static_cast<int64_t>(iteration)}, {"loss", loss}});
  }
  ordered_json out{{"name", run.name},
                   {"run", reproduce::display_name(overview.folder)},
                   {"model", overview.config.full_model_name()},
                   {"data", overview.data()},
                   {"parameters", run.parameters},
                   {"state", overview.state_text()},
                   {"iteration", overview.iteration},
                   {"iterations", overview.config.train.iterations},
                   {"best_val_loss", or_null(overview.best_loss)},
                   {"final_val_loss", or_null(overview.final_loss)},
                   {"seconds", or_null(overview.seconds)},
                   {"validation", validation}};
  if (overview.bits_per_byte) out["bits_per_byte"] = *overview.bits_per_byte;
  if (overview.solved) out["solved"] = *overview.solved;
  return out;
}

ordered_json to_json(const Comparison& comparison) {
  ordered_json runs = ordered_json::array(), settings = ordered_json::object();
  for (const ComparedRun& run : comparison.runs) runs.push_back(to_json(run));
  for (const auto& setting : comparison.settings) settings[setting.key] = setting.values;
  return {{"runs", runs}, {"differing_settings", settings}, {"notes", comparison.notes}};
}

void print_table(const Comparison& comparison) {
  Table table({{"run"},
               {"model"},
               {"data"},
               {"parameters", Align::right},
               {"iterations", Align::right},
               {"best", Align::right},
               {"final", Align::right},
               {"bits/byte (last)", Align::right, /*optional=*/true},
               {"solved (last)", Align::right, /*optional=*/true},
               {"time", Align::right}});
  for (const ComparedRun& run : comparison.runs) {
    const reproduce::RunOverview& overview = run.overview;
    table.add({run.name, overview.config.full_model_name(), overview.data(),
               with_commas(run.parameters), overview.iterations_text(),
               loss_cell(overview.best_loss), loss_cell(overview.final_loss),
               bits_cell(overview.bits_per_byte), share_cell(overview.solved),
               overview.seconds ? duration(*overview.seconds) : "-"});
  }
  fmt::print("{}", table.text());
}

void print_plot(const Comparison& comparison) {
  std::vector<PlottedCurve> curves;
  for (const ComparedRun& run : comparison.runs) {
    PlottedCurve& curve = curves.emplace_back();
    curve.label = run.name;
    for (const auto& [iteration, loss] : logged(run.log, &LoggedStep::val_loss)) {
      curve.x.push_back(iteration);
      curve.y.push_back(loss);
    }
  }
  const std::string plot = plot_log(
      curves, {.width = output_columns(), .colours = output_has_colours(), .x_label = "iteration"});
  if (!plot.empty()) fmt::print("\nvalidation loss\n{}", plot);
}

void run_compare(const CompareOptions& options) {
  if (!options.out.empty()) require_new(options.out, options.force);
  const Comparison comparison = reproduce::compare_runs({options.runs.begin(), options.runs.end()});
  if (!options.out.empty()) {
    base::write_text_atomically(options.out, to_html(comparison, {.title = options.title}));
  }
  if (options.json) {
    print_json(to_json(comparison));
    return;
  }
  print_table(comparison);
  for (const std::string& note : comparison.notes) fmt::print("\n{}\n", note);
  print_plot(comparison);
  if (!options.out.empty()) fmt::print("\npage: {}\n", options.out);
}

}  // namespace

void add_compare(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "compare", "Compare runs, finished or not: table, loss curves, and a page with more");
  auto options = std::make_shared<CompareOptions>();
  command->add_option("RUN", options->runs, "Run folders")->required();
  command
      ->add_option("--out", options->out,
                   "Page to write: settings, losses, gradient norms, gates; one HTML file")
      ->type_name("FILE");
  command->add_option("--title", options->title, "Title of the page")->capture_default_str();
  command->add_flag("--force", options->force, "Overwrite the page");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Examples:\n  edelta compare runs/one runs/two\n"
      "  edelta compare runs/* --out comparison.html --title 'Seeds'");
  command->callback([options] { run_compare(*options); });
}

}  // namespace edelta::cli
