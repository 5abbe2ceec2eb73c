// edelta train: trains a model on a task or on the user's own sequences, and continues runs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/input_file.h"
#include "base/json.h"
#include "cli/checks.h"
#include "cli/commands.h"
#include "cli/duration.h"
#include "cli/interrupted.h"
#include "cli/machine_options.h"
#include "cli/measures.h"
#include "cli/notice.h"
#include "cli/print_json.h"
#include "cli/puzzles_progress.h"
#include "cli/setting_flags.h"
#include "cli/shell_command.h"
#include "cli/stop_signal.h"
#include "cli/strata.h"
#include "cli/training_progress.h"
#include "data/data_kind.h"
#include "data/puzzles/arc_build.h"
#include "dist/join.h"
#include "dist/launch.h"
#include "dist/together.h"
#include "edelta/base/blas.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/models/registry.h"
#include "edelta/ops/implementation.h"
#include "edelta/train/trainer.h"
#include "train/agreement.h"
#include "train/tensorboard.h"

namespace edelta::cli {
namespace {

using nlohmann::json;
using train::RunFolder;
using train::StepReport;

struct TrainOptions {
  std::string model, task, data, preset, config, out, resume, schedule;
  std::optional<int64_t> threads;
  std::string impl;
  // What flags say, by section and key.
  std::map<std::string, json> settings;
  bool force = false;
  bool quiet = false;
  bool tensorboard = false;
  bool json_output = false;
  // With several ranks.
  std::string store;
  double timeout = 120;  // seconds
  bool deterministic_reduction = false;

  std::optional<train::Summation> summation() const {
    if (!deterministic_reduction) return std::nullopt;
    return train::Summation::tree;
  }
};

// What a section says, as an object: a bare name stands for {key: name}.
json& section(json& config, const std::string& key) {
  json& found = config[key];
  if (found.is_null()) found = json::object();
  if (found.is_string()) found = {{key, found}};
  if (!found.is_object()) throw InputError(key + " must be a name or an object");
  return found;
}

// A flag takes the place of what the file says, under whichever of the setting's names.
void put(json& section, const Field& field, const json& value) {
  std::vector<std::string> same;
  for (const auto& [key, before] : section.items()) {
    if (field.is_meant_by(key)) same.push_back(key);
  }
  for (const std::string& key : same) section.erase(key);
  section[field.key] = value;
}

// A flag that the architecture does not have is a mistake. A file may have been another's.
void check_architecture_has(const TrainOptions& options, const json& given,
                            const models::ModelConfig& config) {
  const models::Architecture& architecture = models::find_architecture(config.model);
  const json defaults = models::to_json(models::ModelConfig{});
  const auto flags = options.settings.find("model");
  for (const Field& field : models::model_fields()) {
    if (has_option(architecture, field.key)) continue;
    if (flags != options.settings.end() && flags->second.contains(field.key)) {
      throw InputError(fmt::format("{} has no {}", config.model, field.flag_name()));
    }
    const auto model = given.find("model");
    if (model == given.end() || !model->is_object()) continue;
    for (const auto& [key, value] : model->items()) {
      if (field.is_meant_by(key) && value != defaults.value(field.key, json())) {
        notice("note: {} has no {}: what {} says of it has no effect\n", config.model, field.name(),
               options.config);
      }
    }
  }
}

// All that can be set: a flag that both kinds of runs have is one.
std::vector<train::Setting> all_settings() {
  std::vector<train::Setting> all = train::settings();
  std::set<std::string> flags;
  for (const train::Setting& setting : all) flags.insert(setting.field.flag_name());
  for (const train::Setting& setting : train::recursive_settings()) {
    if (flags.insert(setting.field.flag_name()).second) all.push_back(setting);
  }
  return all;
}

// The flags into the settings that they are of the kind of run that `given` is.
void put_flags(const TrainOptions& options, json& given) {
  std::map<std::string, json> flags;
  for (const train::Setting& setting : all_settings()) {
    const auto values = options.settings.find(setting.section);
    if (values == options.settings.end() || !values->second.contains(setting.field.key)) continue;
    flags[setting.field.flag_name()] = values->second[setting.field.key];
  }
  const bool recursive = train::is_recursive(given);
  for (const train::Setting& setting :
       recursive ? train::recursive_settings() : train::settings()) {
    const auto flag = flags.find(setting.field.flag_name());
    if (flag == flags.end()) continue;
    put(section(given, setting.section), setting.field, flag->second);
    flags.erase(flag);
  }
  if (flags.empty()) return;
  throw InputError(fmt::format("{} is for {} models", flags.begin()->first,
                               recursive ? "other than recursive" : "recursive"));
}

train::TrainConfig configuration(const TrainOptions& options) {
  json given = json::object();
  if (!options.config.empty()) given = train::configuration_in(base::read_json(options.config));
  if (!given.is_object()) throw InputError(options.config + ": must be a JSON object");
  if (!options.preset.empty()) given["preset"] = options.preset;
  if (!options.data.empty()) {
    given["data"] = options.data;
    given.erase("task");
    given.erase("puzzles");
  }
  if (!options.task.empty()) {
    // Another task than the file's has other options.
    given["task"] = {{"task", options.task}};
    given.erase("data");
    given.erase("puzzles");
  }
  if (!options.model.empty()) section(given, "model")["model"] = options.model;
  put_flags(options, given);
  const train::TrainConfig config = train::train_config_from_json(given, options.config);
  if (config.recursive) return config;
  const auto model = options.settings.find("model");
  if (config.model.head != models::Head::token && model != options.settings.end() &&
      model->second.contains("vocab_size")) {
    throw InputError("--vocab goes with text");
  }
  check_architecture_has(options, given, config.model);
  return config;
}

std::filesystem::path free_folder(const train::TrainConfig& config) {
  std::string source = config.data.empty() ? config.task_name()
                                           : std::filesystem::path(config.data).filename().string();
  if (source != config.preset) source += "-" + config.preset;
  const std::filesystem::path wanted =
      fmt::format("runs/{}-{}-seed{}", config.full_model_name(), source, config.train.seed);
  std::filesystem::path path = wanted;
  for (int i = 2; std::filesystem::exists(path); ++i)
    path = fmt::format("{}-{}", wanted.string(), i);
  return path;
}

void print_result(const RunFolder& run, const json& result, bool as_json) {
  if (as_json) {
    json out = result;
    out["run"] = run.path().string();
    print_json(out);
    return;
  }
  const auto number = [&](const char* key) { return result[key].get<double>(); };
  fmt::print(
      "validation loss: {:.4e} at the start, {:.4e} at best (iteration {}), {:.4e} at the end\n",
      number("initial_val_loss"), number("best_val_loss"), result["best_iteration"].get<int64_t>(),
      number("final_val_loss"));
  for (const auto& [name, loss] : result["strata"].items()) {
    fmt::print("  of the stratum {} alone: {:.4e}\n", name, loss.get<double>());
  }
  if (result.contains("measures")) {
    fmt::print("at the end: {}\n",
               measures_text(result["measures"].get<std::map<std::string, double>>()));
  }
  fmt::print("{} parameters, {} of training; everything is in {}\n",
             result["parameters"].get<int64_t>(), duration(number("seconds")), run.path().string());
}

// A run is continued as it was begun, unless the user asks for something else.
void prepare_to_resume(const TrainOptions& options, const RunFolder& folder) {
  if (!options.settings.empty()) {
    const json protocol =
        options.settings.contains("train") ? options.settings.at("train") : json::object();
    const bool extends_only =
        options.settings.size() == 1 && protocol.size() == 1 && protocol.contains("iterations");
    if (!extends_only) {
      throw InputError(
          "--resume continues a run as it was configured; of the settings it takes --iterations "
          "alone, to extend it");
    }
    int64_t iterations = 0;
    json_fields::read("iterations", protocol["iterations"], iterations);
    // A run that cannot go on is not made longer.
    train::require_run_data(folder, folder.read_manifest(), options.data);
    folder.extend(iterations, options.schedule == "stretched" ? train::Extension::stretched
                                                              : train::Extension::held);
  } else if (!options.schedule.empty()) {
    throw InputError("--schedule goes with --resume and --iterations");
  }
  const train::Compute before = folder.read_manifest().compute;
  if (!base::is_there(folder.checkpoint_file())) return;
  if (!options.threads) base::set_threads(before.threads);
  if (options.impl.empty() && !before.implementation.empty()) {
    ops::set_implementation(ops::parse_implementation(before.implementation));
  }
}

void require_only_resume(const TrainOptions& options) {
  if (!options.model.empty() || !options.task.empty() || !options.config.empty() ||
      !options.preset.empty() || options.force) {
    throw InputError(
        "--resume continues a run as it was configured; beside it go --data, --iterations, "
        "--schedule, --threads, --impl and what is of ranks alone");
  }
}

// A run that is ready to be trained.
struct Prepared {
  RunFolder folder;
  std::shared_ptr<const train::TrainingData> data = {};  // where it is at hand
};

// Every rank looks at its data before the first one writes anything; a user's files are not looked
// at again.
Prepared prepare_new(const TrainOptions& options, train::TrainConfig config, dist::Ranks& ranks,
                     const std::function<void(const std::string&)>& say) {
  Prepared prepared{RunFolder("")};
  const data::Identity files = dist::together(ranks, [&] {
    if (config.recursive) {
      if (!config.data.empty()) {
        data::require_kind(config.data, data::DataKind::puzzles);
        fit_model(config, data::read_puzzle_data(config.data).train.info);
        if (data::lacks_solutions(config.data)) {
          say("not all test puzzles have a solution: what is measured on them means nothing, and "
              "neither does the choice of best; use --weights last");
        }
      }
    } else if (!config.data.empty()) {
      prepared.data = load_training_data(config, say);
      prepared.data->fit(config);
    }
    require_memory(config, prepared.data ? prepared.data->positions()
                           : config.task ? config.task->steps
                                         : 0);
    const bool compares = ranks.count() > 1 && !config.data.empty();
    return compares ? data::identify(config.data) : data::Identity();
  });
  train::Compute compute = train::current_compute();
  compute.summation = options.summation().value_or(compute.summation);
  train::require_same_computation(ranks, compute);
  train::require_same_configuration(ranks, config, files);
  // Looked at while puzzles are made, so that none are left half made. Among ranks one that is
  // stopped ends at once, and the others with it.
  if (ranks.count() == 1) {
    remember_signals({SIGINT, SIGTERM, SIGHUP}, NextSignal::ends_at_once);
  }
  return dist::together(ranks, [&] {
    if (!ranks.first()) return prepared;
    prepared.folder = RunFolder(options.out.empty() ? free_folder(config).string() : options.out);
    PuzzlesProgress progress(options.quiet);
    prepared.folder.create(config, options.force,
                           [&](const data::PuzzleProgress& made) { progress.show(made); });
    if (!options.quiet) notice("run folder: {}\n", prepared.folder.path().string());
    return prepared;
  });
}

// The first rank knows how the run was computed; the others do as it does.
void adopt_first(const TrainOptions& options, dist::Ranks& ranks) {
  const train::Compute own = train::current_compute();
  const json first = json::parse(
      dist::first_text(ranks, json{{"threads", own.threads}, {"impl", own.implementation}}.dump()));
  if (!options.threads) base::set_threads(first["threads"].get<int64_t>());
  if (options.impl.empty()) {
    ops::set_implementation(ops::parse_implementation(first["impl"].get<std::string>()));
  }
}

Prepared prepare_old(const TrainOptions& options, dist::Ranks& ranks) {
  const RunFolder folder(options.resume);
  dist::together(ranks, [&] {
    if (ranks.first()) prepare_to_resume(options, folder);
    return true;
  });
  if (ranks.count() > 1) adopt_first(options, ranks);
  return {folder};
}

void train_as(dist::Ranks& ranks, const TrainOptions& options,
              const std::optional<train::TrainConfig>& config) {
  const bool speaks = ranks.first();
  const auto say = [speaks](const std::string& text) {
    if (speaks) notice("note: {}\n", text);
  };
  const Prepared prepared =
      config ? prepare_new(options, *config, ranks, say) : prepare_old(options, ranks);
  const RunFolder& folder = prepared.folder;

  // They are looked at after every batch. At once is safe, too: everything on the disk is whole at
  // any moment.
  remember_signals({SIGINT, SIGTERM, SIGHUP}, NextSignal::ends_at_once);
  std::optional<TrainingProgress> progress;
  if (!options.quiet && speaks) progress.emplace();
  std::optional<train::TensorBoardLog> tensorboard;
  train::TrainOptions watching{.stop_signal = received_signal,
                               .on_notice = say,
                               .data = options.data,
                               .ranks = &ranks,
                               .summation = options.summation()};
  if (progress) watching.on_step = [&](const StepReport& report) { (*progress)(report); };
  if (options.tensorboard) {
    watching.on_metrics = [&](const json& entry) {
      if (!tensorboard) tensorboard.emplace(folder.path(), entry["iteration"].get<int64_t>());
      tensorboard->add(entry);
    };
  }
  const train::TrainOutcome outcome = prepared.data ? train::train(folder, prepared.data, watching)
                                                    : train::train(folder, watching);
  progress.reset();
  if (outcome.stopped_by != 0) {
    if (speaks) {
      notice("stopped; continue with: {}\n",
             shell_command({"train", "--resume", folder.path().string()}));
    }
    throw Interrupted(outcome.stopped_by);
  }
  if (speaks) print_result(folder, outcome.result, options.json_output);
}

void run_train(const TrainOptions& options) {
  const std::optional<dist::Launch> launch = dist::launch_from_environment(options.store);
  const int64_t count = launch ? launch->count : 1;
  if (!launch || launch->rank == 0) {
    if (const auto warning = base::blas_warning()) notice("{}\n", *warning);
  }
  // What can be refused at once is not worth waiting for other ranks.
  std::optional<train::TrainConfig> config;
  if (options.resume.empty()) {
    if (!options.schedule.empty()) throw InputError("--schedule goes with --resume");
    config = configuration(options);
    train::require_divisible(*config, count,
                             options.summation().value_or(train::Summation::running));
  } else {
    require_only_resume(options);
  }
  if (!launch) return train_as(dist::alone(), options, config);
  const auto limit = std::chrono::milliseconds(static_cast<int64_t>(1000 * options.timeout));
  const std::unique_ptr<dist::Ranks> ranks = dist::join(*launch, limit);
  try {
    train_as(*ranks, options, config);
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    ranks->leave(reason.substr(0, reason.find('\n')));
    throw;
  }
}

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("train", "Train a model; every run is a folder that can be resumed");
  auto options = std::make_shared<TrainOptions>();
  const auto listed = [](const auto& items) {
    std::string text;
    for (const auto& item : items) text += fmt::format("\n{}: {}", item.name, item.summary);
    return text;
  };
  command
      ->add_option("--model", options->model,
                   "Architecture (default: edelta; for puzzles: trm)" +
                       listed(models::architectures()) +
                       fmt::format("\nfor puzzles: {}", enum_choices<models::Recursion>()))
      ->check(kNotEmpty);
  command
      ->add_option("--task", options->task,
                   fmt::format("Generated task: {}", fmt::join(data::task_names(), ", ")))
      ->check(kNotEmpty);
  command
      ->add_option("--data", options->data,
                   "Folder of sequences (train_x.npy, train_y.npy, val_x.npy, val_y.npy), of text "
                   "(train.bin, val.bin: see edelta text) or of puzzles (see edelta puzzles); with "
                   "--resume: where the run's data is "
                   "now")
      ->check(kNotEmpty)
      ->excludes("--task");
  command
      ->add_option("--preset", options->preset,
                   "Settings to start from (default: paper; for text: chars; for puzzles: trm)" +
                       listed(train::presets()))
      ->check(kNotEmpty);
  command
      ->add_option("--config", options->config,
                   "JSON file with settings, or another run's config.json; flags win")
      ->check(kNotEmpty);
  command->add_option("--out", options->out, "Run folder (default: runs/MODEL-TASK-PRESET-seedN)")
      ->check(kNotEmpty);
  command->add_flag("--force", options->force, "Replace the run that is in the folder");
  command->add_option("--resume", options->resume, "Continue the run in this folder")
      ->check(kNotEmpty)
      ->excludes("--out");
  command
      ->add_option("--schedule", options->schedule,
                   "With --resume and a larger --iterations: the learning rate is held at its end, "
                   "or its cosine stretched to the new one (default: held)")
      ->check(CLI::IsMember({"held", "stretched"}));
  for (const train::Setting& setting : all_settings()) {
    CLI::Option* flag = add_field_flag(*command, setting.field, options->settings[setting.section]);
    flag->group(std::string("Settings: ") + setting.section);
    if (!setting.default_value.empty()) flag->default_str(setting.default_value);
  }
  add_machine_options(*command);
  command->get_option("--threads")->each([options](const std::string& text) {
    options->threads = std::stoll(text);
  });
  command->get_option("--impl")->each([options](const std::string& text) { options->impl = text; });
  command->add_flag("--tensorboard", options->tensorboard,
                    "Also write event files for TensorBoard into the run folder");
  const std::string ranks = "Several processes, one run";
  command
      ->add_option("--store", options->store,
                   "Shared folder in which the ranks find each other, instead of an address")
      ->type_name("DIR")
      ->check(kNotEmpty)
      ->group(ranks);
  command
      ->add_option("--timeout", options->timeout,
                   "Seconds that ranks wait for one that does not come or answer")
      ->check(CLI::Range(1.0, 86400.0))
      ->capture_default_str()
      ->group(ranks);
  command
      ->add_flag("--deterministic-reduction", options->deterministic_reduction,
                 "Add gradients in an order that does not depend on the number of ranks: the "
                 "accumulated batches, a power of two, in a balanced tree")
      ->group(ranks);
  command->add_flag("--quiet", options->quiet, "Say nothing but the result, notes and errors");
  command->add_flag("--json", options->json_output, "Print the result as JSON");
  command->footer(
      "Layers and width are by default those at which the paper compares; a task's settings have\n"
      "the task's own, and presets change some.\n" +
      std::string(kStrata) +
      "\nCtrl-C finishes the batch, saves and says how to resume; a second one ends at once.\n"
      "Started by torchrun, srun or mpirun, or by hand with RANK, WORLD_SIZE, MASTER_ADDR and\n"
      "MASTER_PORT, several processes train one run together: docs/scaling.md.\n\n"
      "Examples:\n"
      "  edelta train --model edelta --task stability --preset smoke\n"
      "  edelta train --model gpt --task gyroscope --seed 123 --out runs/mine\n"
      "  edelta train --model edelta --pool prefix --data my-sequences --iterations 500\n"
      "  edelta train --model gpt --data my-text --preset chars --iterations 1000\n"
      "  edelta train --model trm --preset sudoku4\n"
      "  edelta train --model trm --mixer edelta --data my-puzzles --width 128\n"
      "  edelta train --resume runs/mine\n"
      "  edelta train --resume runs/mine --iterations 4000 --schedule stretched\n"
      "  mpirun -n 2 edelta train --task gyroscope --threads 1 --out runs/two");
  command->callback([options] {
    std::erase_if(options->settings, [](const auto& entry) { return entry.second.is_null(); });
    run_train(*options);
  });
}

}  // namespace edelta::cli
