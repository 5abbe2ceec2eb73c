// edelta runs: the runs below a folder, one a line.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/measure_cells.h"
#include "cli/print_json.h"
#include "cli/table.h"
#include "edelta/base/error.h"
#include "reproduce/compare/run_overview.h"

namespace edelta::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using reproduce::RunOverview;

constexpr int kDeepest = 3;  // folders below the one given

struct RunsOptions {
  std::string folder = "runs";
  std::string sort = "name";
  bool reverse = false;
  bool json = false;
};

// A folder that has a config.json: a run, or why it is none.
struct Listed {
  fs::path folder;
  std::string name;
  std::optional<RunOverview> run = {};
  std::string reason = {};
};

Listed look_at(const fs::path& folder, const std::string& name) {
  try {
    return {folder, name, reproduce::read_overview(folder)};
  } catch (const std::exception& error) {
    return {folder, name, std::nullopt, reproduce::display_name(error.what())};
  }
}

// What lies inside a run is its own.
void find_runs(const fs::path& folder, const fs::path& name, int depth,
               std::vector<Listed>& found) {
  std::error_code error;
  if (fs::exists(folder / "config.json", error)) {
    found.push_back(look_at(folder, reproduce::display_name(name)));
    return;
  }
  if (depth == kDeepest) return;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, fs::directory_options::skip_permission_denied, error)) {
    const fs::path own = entry.path().filename();
    if (entry.is_directory(error)) find_runs(entry.path(), name / own, depth + 1, found);
  }
}

std::vector<Listed> find_runs(const fs::path& folder) {
  if (!fs::is_directory(folder)) {
    throw InputError(fmt::format("{} is no folder; edelta train makes runs in it",
                                 reproduce::display_name(folder)));
  }
  std::vector<Listed> found;
  if (fs::exists(folder / "config.json")) {
    const fs::path name = fs::weakly_canonical(folder).filename();
    found.push_back(look_at(folder, reproduce::display_name(name)));
  } else {
    find_runs(folder, {}, 0, found);
  }
  return found;
}

// By a key, and by name where that is the same; what has no such value comes last in either
// direction.
template <class Value>
std::function<void(std::vector<Listed>&, bool)> sorter(Value value) {
  return [value](std::vector<Listed>& runs, bool reverse) {
    const auto key = [&](const Listed& one) { return one.run ? value(one) : std::nullopt; };
    std::sort(runs.begin(), runs.end(), [&](const Listed& a, const Listed& b) {
      const auto of_a = key(a), of_b = key(b);
      if (of_a.has_value() != of_b.has_value()) return of_a.has_value();
      if (of_a != of_b) return reverse ? *of_b < *of_a : *of_a < *of_b;
      return reverse ? b.name < a.name : a.name < b.name;
    });
  };
}

std::optional<double> finite(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

const std::map<std::string, std::function<void(std::vector<Listed>&, bool)>>& sorters() {
  static const std::map<std::string, std::function<void(std::vector<Listed>&, bool)>> all{
      {"name", sorter([](const Listed& one) { return std::optional(one.name); })},
      {"model",
       sorter([](const Listed& one) { return std::optional(one.run->config.full_model_name()); })},
      {"data", sorter([](const Listed& one) { return std::optional(one.run->data()); })},
      {"best", sorter([](const Listed& one) { return finite(one.run->best_loss); })},
      {"final", sorter([](const Listed& one) { return finite(one.run->final_loss); })},
      {"bits", sorter([](const Listed& one) { return finite(one.run->bits_per_byte); })},
      {"solved", sorter([](const Listed& one) { return finite(one.run->solved); })},
      {"time", sorter([](const Listed& one) { return finite(one.run->seconds); })},
      {"date", sorter([](const Listed& one) { return std::optional(one.run->changed); })}};
  return all;
}

std::string date_text(std::chrono::system_clock::time_point time, const char* format) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[40];
  return {text, std::strftime(text, sizeof text, format, &local)};
}

ordered_json to_json(const Listed& one) {
  ordered_json out{{"run", reproduce::display_name(one.folder)}, {"name", one.name}};
  if (!one.run) {
    out["error"] = one.reason;
    return out;
  }
  const RunOverview& run = *one.run;
  const auto number = [](const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  out["model"] = run.config.full_model_name();
  out["data"] = run.data();
  out["seed"] = run.config.train.seed;
  out["state"] = run.state_text();
  if (!run.state.holder.empty()) out["holder"] = reproduce::display_name(run.state.holder);
  out["iteration"] = run.iteration;
  out["iterations"] = run.config.train.iterations;
  out["best_val_loss"] = number(run.best_loss);
  out["final_val_loss"] = number(run.final_loss);
  if (run.bits_per_byte) out["bits_per_byte"] = *run.bits_per_byte;
  if (run.solved) out["solved"] = *run.solved;
  out["seconds"] = number(run.seconds);
  out["changed"] = date_text(run.changed, "%Y-%m-%dT%H:%M:%S%z");
  return out;
}

// "finished", "running, 300/2000", "stopped at 300/2000".
std::string state_text(const RunOverview& run) {
  const std::string state = run.state_text();
  if (run.state.phase == train::RunPhase::finished) return state;
  const bool running = run.state.phase == train::RunPhase::running;
  return fmt::format("{}{} {}/{}", state, running ? "," : " at", run.iteration,
                     run.config.train.iterations);
}

void print_table(const std::vector<Listed>& runs) {
  Table table({{"run"},
               {"model"},
               {"data"},
               {"seed", Align::right},
               {"state"},
               {"best", Align::right},
               {"final", Align::right},
               {"bits/byte (last)", Align::right, /*optional=*/true},
               {"solved (last)", Align::right, /*optional=*/true},
               {"time", Align::right},
               {"changed"}});
  for (const Listed& one : runs) {
    if (!one.run) continue;
    const RunOverview& run = *one.run;
    table.add({one.name, run.config.full_model_name(), run.data(),
               std::to_string(run.config.train.seed), state_text(run), loss_cell(run.best_loss),
               loss_cell(run.final_loss), bits_cell(run.bits_per_byte), share_cell(run.solved),
               run.seconds ? duration(*run.seconds) : "-",
               date_text(run.changed, "%Y-%m-%d %H:%M")});
  }
  fmt::print("{}", table.text());
  for (const Listed& one : runs) {
    if (!one.run) fmt::print("{}: not readable: {}\n", one.name, one.reason);
  }
}

void run_runs(const RunsOptions& options) {
  std::vector<Listed> runs = find_runs(options.folder);
  sorters().at(options.sort)(runs, options.reverse);
  if (options.json) {
    ordered_json out = ordered_json::array();
    for (const Listed& one : runs) out.push_back(to_json(one));
    print_json(out);
  } else if (runs.empty()) {
    fmt::print("no runs in {}\n", reproduce::display_name(options.folder));
  } else {
    print_table(runs);
  }
}

}  // namespace

void add_runs(CLI::App& app) {
  CLI::App* command = app.add_subcommand("runs", "List runs: model, data, state, losses and time");
  auto options = std::make_shared<RunsOptions>();
  command->add_option("FOLDER", options->folder, "Where they are, at most three folders deep")
      ->capture_default_str();
  std::vector<std::string> keys;
  for (const auto& [key, sort] : sorters()) keys.push_back(key);
  command->add_option("--sort", options->sort, "What to sort by")
      ->check(CLI::IsMember(keys))
      ->capture_default_str();
  command->add_flag("--reverse", options->reverse, "The other way round");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "Examples:\n  edelta runs\n  edelta runs --sort best\n"
      "  edelta runs results/quick --sort date --reverse");
  command->callback([options] { run_runs(*options); });
}

}  // namespace edelta::cli
