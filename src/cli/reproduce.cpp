// edelta reproduce: the paper's tables and figures from one command.
#include "cli/reproduce.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/interrupted.h"
#include "cli/process_launcher.h"
#include "cli/table.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "reproduce/collect.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/report/report.h"
#include "reproduce/results_json.h"
#include "reproduce/runner.h"
#include "reproduce/step_status.h"
#include "reproduce/suite_lock.h"
#include "reproduce/suite_preset.h"

namespace edelta::cli {
namespace {

using reproduce::Overview;
using reproduce::SuiteFolder;
using reproduce::SuiteManifest;

volatile std::sig_atomic_t received_signal = 0;

// One line that is rewritten on a terminal; plain lines now and then elsewhere.
class OverviewLine {
 public:
  void operator()(const Overview& overview) {
    const bool last = overview.done + overview.failed == overview.total;
    const auto now = Clock::now();
    if (!terminal_ && !last && std::chrono::duration<double>(now - shown_).count() < 30) return;
    shown_ = now;
    std::string line = fmt::format("{} of {} done", overview.done, overview.total);
    if (overview.failed > 0) line += fmt::format(", {} failed", overview.failed);
    if (!last) {
      line += fmt::format(", {} running, {} left", overview.running.size(),
                          duration(overview.seconds_left));
      for (const std::string& name : overview.running) line += "  " + name;
    }
    if (terminal_) line = shortened(line);
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r\033[K" : "", line, terminal_ && !last ? "" : "\n");
    std::fflush(stderr);
    open_ = terminal_ && !last;
  }
  // Before anything else is said.
  void close() {
    if (open_) fmt::print(stderr, "\n");
    open_ = false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // A line that wraps cannot be rewritten.
  static std::string shortened(const std::string& line) {
    constexpr size_t kColumns = 79;
    return line.size() <= kColumns ? line : line.substr(0, kColumns - 3) + "...";
  }

  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool open_ = false;
  Clock::time_point shown_{};
};

void list_steps(const SuiteFolder& folder, const SuiteManifest& manifest, int64_t jobs,
                bool as_json) {
  const auto steps = reproduce::inspect_steps(folder, manifest);
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Table table({{"step"}, {"status"}, {"time left", Align::right}});
  double shared = 0, alone = 0;
  for (const auto& each : steps) {
    const std::string status = to_string(each.status);
    (each.step.exclusive ? alone : shared) += each.seconds;
    rows.push_back({{"step", each.step.name}, {"status", status}, {"seconds", each.seconds}});
    table.add({each.step.name, status, each.seconds > 0 ? duration(each.seconds) : "-"});
  }
  if (as_json) {
    fmt::print("{}\n", rows.dump(2));
    return;
  }
  fmt::print("{}\n{} steps, about {} with {} jobs of {} threads, in {}\n", table.text(),
             steps.size(), duration(shared / static_cast<double>(jobs) + alone), jobs,
             manifest.threads, folder.path().string());
}

std::string command_to_continue(const ReproduceOptions& options) {
  std::string command =
      fmt::format("edelta reproduce {} --preset {} --out {}", fmt::join(options.names, " "),
                  options.preset, results_folder(options));
  if (!options.seeds.empty()) command += fmt::format(" --seeds {}", fmt::join(options.seeds, ","));
  if (options.jobs > 0) command += fmt::format(" --jobs {}", options.jobs);
  return command;
}

void finish(const SuiteFolder& folder, bool as_json) {
  const reproduce::Results results = reproduce::collect_results(folder.path());
  const nlohmann::ordered_json json = to_json(results);
  base::write_json(folder.results_file(), json);
  reproduce::report::write_report(results, folder.path());
  if (as_json) {
    fmt::print("{}\n", json.dump(2));
    return;
  }
  fmt::print("report: {}\n", (folder.path() / "report.html").string());
}

}  // namespace

std::string results_folder(const ReproduceOptions& options) {
  return options.out.empty() ? "results/" + options.preset : options.out;
}

void reproduce(const ReproduceOptions& options) {
  const int64_t cpus = base::threads();
  const SuiteFolder folder(results_folder(options));
  reproduce::suite_preset(options.preset);  // refuses an unknown one
  const auto merged = [&] {
    return merged_manifest(folder, options.preset, options.names, options.seeds,
                           options.jobs > 0 ? std::max<int64_t>(1, cpus / options.jobs) : 1);
  };
  const auto jobs_for = [&](const SuiteManifest& manifest) {
    return options.jobs > 0 ? options.jobs : std::max<int64_t>(1, cpus / manifest.threads);
  };
  // What was asked for now, of all that the folder is about.
  const auto asked = [&](SuiteManifest manifest) {
    manifest.names = options.names;
    if (!options.seeds.empty()) manifest.seeds = options.seeds;
    return manifest;
  };
  const SuiteManifest planned = merged();  // refuses bad input before anything is written
  if (options.dry_run) {
    return list_steps(folder, asked(planned), jobs_for(planned), options.json);
  }

  if (const auto warning = base::blas_warning()) fmt::print(stderr, "{}\n", *warning);
  OverviewLine line;
  ProcessLauncher launcher;
  reproduce::RunnerOutcome outcome;
  {
    const reproduce::SuiteLock lock(folder);
    const SuiteManifest manifest = merged();  // again: another call may have added to it
    inspect_steps(folder, manifest);  // refuses runs of another configuration before anything runs
    folder.write_manifest(manifest);
    std::signal(SIGINT, [](int signal) { received_signal = signal; });
    std::signal(SIGTERM, [](int signal) { received_signal = signal; });
    outcome = run_steps(folder, asked(manifest), launcher,
                        {.jobs = jobs_for(manifest),
                         .all_threads = cpus,
                         .stop_signal = [] { return static_cast<int>(received_signal); },
                         .on_overview = [&](const Overview& overview) { line(overview); },
                         .on_failure =
                             [&](const std::string& step, const std::string& reason) {
                               line.close();
                               fmt::print(stderr, "{} failed: {}\n", step, reason);
                             }});
  }
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  line.close();
  if (outcome.stopped_by != 0) {
    fmt::print(stderr, "stopped; continue with: {}\n", command_to_continue(options));
    throw Interrupted(outcome.stopped_by);
  }
  finish(folder, options.json);
  if (!outcome.failures.empty()) {
    throw Failure(fmt::format("{} steps failed; what they said is in {}", outcome.failures.size(),
                              (folder.path() / "logs").string()));
  }
}

void add_reproduce(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "reproduce", "Run the paper's experiments and ours, and report them beside the paper");
  auto options = std::make_shared<ReproduceOptions>();
  std::string names;
  for (const auto& experiment : reproduce::experiments()) {
    names += fmt::format("\n{}: {}", experiment.name, experiment.title);
  }
  command->add_option(
      "NAME", options->names,
      "Experiments (default: all), or single tables such as main-stability" + names);
  command
      ->add_option("--preset", options->preset,
                   fmt::format("One of: {}", fmt::join(reproduce::suite_preset_names(), ", ")))
      ->capture_default_str();
  command
      ->add_option("--seeds", options->seeds,
                   "Seeds, added to those of earlier calls (default: 42,123,456; smoke: 42)")
      ->delimiter(',');
  command->add_option("--jobs", options->jobs, "Runs at a time (default: one for each CPU)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--out", options->out, "Folder (default: results/PRESET)")->type_name("DIR");
  command->add_flag("--dry-run", options->dry_run, "List the steps with estimated times");
  command->add_flag("--json", options->json, "Print the results as JSON");
  command->footer(
      "Finished runs are skipped and interrupted ones resumed: the same command continues after\n"
      "Ctrl-C, a crash or a failure. Results depend on the threads of a job in their last digits,\n"
      "so a folder keeps the number it was begun with.\n\nExamples:\n"
      "  edelta reproduce --dry-run\n"
      "  edelta reproduce theorems reflection\n"
      "  edelta reproduce main near-pi --preset quick --jobs 2\n"
      "  edelta reproduce main-stability --preset paper --seeds 42\n"
      "  edelta reproduce all --preset smoke --out /tmp/smoke");
  command->callback([options] { reproduce(*options); });
}

}  // namespace edelta::cli
