#include "edelta/train/run_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "base/atomic_file.h"
#include "base/atomic_folder.h"
#include "base/checksum.h"
#include "base/file_lock.h"
#include "base/input_file.h"
#include "base/json.h"
#include "base/required_fields.h"
#include "base/temporary_folder.h"
#include "data/token_files.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/models/model_file.h"
#include "edelta/models/recursive_file.h"
#include "edelta/ops/implementation.h"
#include "edelta/train/checkpoint.h"
#include "edelta/train/optimiser.h"
#include "edelta/train/schedule.h"
#include "train/metrics.h"
#include "train/run_lock.h"

namespace edelta::train {
namespace {

namespace fs = std::filesystem;
using base::is_there;
using nlohmann::json;
using nlohmann::ordered_json;

// A path is kept in JSON, which is UTF-8.
void require_utf8(const std::string& path) {
  try {
    json(path).dump();
  } catch (const json::exception&) {
    throw InputError(fmt::format("{}: the path of a run's data must be UTF-8", path));
  }
}

// InputError where something of another run has found its way into the folder.
void require_run(const fs::path& file, const std::string& found, const std::string& id) {
  if (found == id || id.empty()) return;
  throw InputError(fmt::format("{} belongs to another run", file.string()));
}

constexpr const char* kTree = "tree";

// What one process does by default is not said.
ordered_json to_json(const Compute& compute) {
  ordered_json json{{"threads", compute.threads}, {"impl", compute.implementation}};
  if (compute.ranks > 1) json["ranks"] = compute.ranks;
  if (compute.summation == Summation::tree) json["summation"] = kTree;
  return json;
}

Compute compute_from_json(const json& given) {
  Compute compute{base::required<int64_t>(given, "threads"),
                  base::required<std::string>(given, "impl")};
  if (given.contains("ranks")) compute.ranks = base::required<int64_t>(given, "ranks");
  if (given.contains("summation") && base::required<std::string>(given, "summation") == kTree) {
    compute.summation = Summation::tree;
  }
  return compute;
}

RunManifest manifest_from_json(const json& given, const std::string& source) {
  RunManifest manifest;
  with_source(source, [&] {
    manifest.id = base::required<std::string>(given, kRunIdKey);
    manifest.compute = compute_from_json(base::required_entry(given, "compute"));
    manifest.history = base::required_list(given, "history");
  });
  if (const auto files = given.find("data_files"); files != given.end()) {
    manifest.data_files = data::identity_from_json(*files, source);
  }
  manifest.config = train_config_from_json(configuration_in(given), source);
  return manifest;
}

// InputError where config.json was exchanged for another run's. Weights that cannot be read are
// reported by whoever needs them.
void require_own_models(const RunFolder& run, const std::string& id) {
  std::string found = id;
  try {
    const auto file = base::read_safetensors_metadata(run.best_folder() / "model.safetensors");
    found = file.metadata_at(kRunIdKey);
  } catch (const InputError&) {
    return;
  }
  require_run(run.config_file(), found, id);
}

// Whether puzzles in a run's folder are the run's own; without a run that says so they are
// somebody's.
bool made_puzzles(const RunFolder& run) {
  try {
    return run.exists() && base::read_json(run.config_file()).contains("puzzles");
  } catch (const InputError&) {
    return false;
  }
}

void remove_run(const RunFolder& run) {
  // config.json first: what is left of a half-removed run is no run.
  std::vector<fs::path> paths{run.config_file(),
                              run.result_file(),
                              run.metrics_file(),
                              run.best_folder(),
                              run.checkpoint_file().parent_path(),
                              run.tokenizer_file()};
  if (made_puzzles(run)) paths.push_back(run.puzzle_folder());
  for (const fs::path& path : paths) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) throw Failure(fmt::format("{}: {}", path.string(), error.message()));
  }
}

bool lies_in(const fs::path& inner, const fs::path& outer) {
  std::error_code error;
  const fs::path relative = fs::relative(inner, outer, error);
  return !error && !relative.empty() && *relative.begin() != "..";
}

ordered_json to_json(const RunManifest& manifest) {
  ordered_json out = to_json(manifest.config);
  out[kRunIdKey] = manifest.id;
  out["compute"] = to_json(manifest.compute);
  if (!manifest.data_files.empty()) {
    out["data_files"] = data::identity_to_json(manifest.data_files);
  }
  out["history"] = manifest.history;
  return out;
}

}  // namespace

std::string to_text(const RunManifest& manifest) { return to_json(manifest).dump(); }

RunManifest manifest_from_text(const std::string& text) {
  const std::string source = "what rank 0 says of the run";
  return manifest_from_json(base::parse_json(text, source), source);
}

json configuration_in(json manifest) {
  if (!manifest.is_object()) return manifest;
  for (const char* key : {kRunIdKey, "compute", "history", "data_files", "checksum"}) {
    manifest.erase(key);
  }
  return manifest;
}

Compute current_compute() { return {base::threads(), to_string(ops::implementation())}; }

bool same_bits(const Compute& a, const Compute& b) {
  Compute with_ranks_of_b = a;
  if (a.summation == Summation::tree) with_ranks_of_b.ranks = b.ranks;
  return with_ranks_of_b == b;
}

bool RunFolder::exists() const { return is_there(config_file()); }

bool RunFolder::finished() const {
  if (!is_there(result_file())) return false;
  return base::required<int64_t>(read_result(), "iterations") == read_config().train.iterations;
}

void RunFolder::create(const TrainConfig& config, bool replace,
                       const data::OnPuzzleProgress& on_puzzles) const {
  RunManifest manifest{.id = "", .config = config, .compute = current_compute()};
  if (!config.data.empty()) {
    require_utf8(config.data);
    manifest.config.data = fs::absolute(config.data).lexically_normal();
    manifest.data_files = data::identify(config.data);
    if (config.recursive) {
      const data::PuzzleData puzzles = data::read_puzzle_data(config.data);
      for (const data::PuzzleSplit* split : {&puzzles.train, &puzzles.test}) {
        data::check_puzzle_tokens(*split);
      }
      fit_model(manifest.config, puzzles.train.info);
    } else if (!config.fitted) {
      load_training_data(config)->fit(manifest.config);
    }
  }
  const bool was_there = is_there(path_);
  std::error_code no_data;
  if (was_there && fs::equivalent(path_, manifest.config.data, no_data)) {
    throw InputError(fmt::format("{}: that is the folder of the data; a run needs one of its own",
                                 path_.string()));
  }
  if (!config.data.empty() && replace && made_puzzles(*this) &&
      lies_in(manifest.config.data, puzzle_folder())) {
    throw InputError(
        fmt::format("{}: the data lies in the run that it is to replace", path_.string()));
  }
  base::make_folder(path_);
  const base::FileLock lock = lock_run(*this);
  if (exists() && !replace) {
    throw InputError(
        fmt::format("{}: a run is already there; continue it with --resume, replace it with "
                    "--force, or choose another folder",
                    path_.string()));
  }
  // Made before anything is removed: puzzles that cannot be made replace no run.
  std::optional<base::AtomicFolder> aside;  // where others are yet to be removed
  const fs::path name = puzzle_folder().filename();
  if (config.recursive && config.recursive->puzzles) {
    try {
      const bool others = replace && made_puzzles(*this);
      const fs::path made = others ? aside.emplace(puzzle_folder()).path() / name : puzzle_folder();
      data::write_puzzles(made, *config.recursive->puzzles, on_puzzles);
      manifest.data_files = data::identify(made);
    } catch (...) {
      std::error_code error;
      if (!was_there) fs::remove_all(path_, error);
      throw;
    }
  }
  if (was_there && replace) remove_run(*this);
  base::make_folder(checkpoint_file().parent_path());
  if (const auto own = manifest.data_files.find(data::kTokenizerFile);
      own != manifest.data_files.end()) {
    const fs::path there = fs::path(manifest.config.data) / data::kTokenizerFile;
    base::write_text_atomically(tokenizer_file(), base::read_text(there, own->second.bytes));
  }
  if (aside) {
    std::error_code error;
    fs::rename(aside->path() / name, puzzle_folder(), error);
    if (error) throw Failure(fmt::format("{}: {}", puzzle_folder().string(), error.message()));
  }
  ordered_json identity = to_json(manifest.config);
  identity["data_files"] = data::identity_to_json(manifest.data_files);
  manifest.id = base::checksum_of(identity.dump());
  write_manifest(manifest);
}

RunManifest RunFolder::read_manifest() const {
  std::error_code error;
  if (fs::is_regular_file(path_, error)) {
    throw InputError(fmt::format(
        "{}: that is a file, not the folder of a run; exported models go with eval and generate",
        path_.string()));
  }
  if (!exists()) {
    throw InputError(fmt::format("{}: no run is there (it has no config.json)", path_.string()));
  }
  const json found = base::read_json(config_file());
  const std::string source = config_file().string();
  if (found.is_object() && !found.contains(kRunIdKey) && !found.contains("checksum")) {
    return {.id = "", .config = train_config_from_json(found, source)};
  }
  base::require_seal(found, source);
  RunManifest manifest = manifest_from_json(found, source);
  require_own_models(*this, manifest.id);
  return manifest;
}

void RunFolder::write_manifest(const RunManifest& manifest) const {
  base::write_json(config_file(), base::sealed(to_json(manifest)));
}

void RunFolder::extend(int64_t iterations, Extension extension) const {
  const base::FileLock lock = lock_run(*this);
  RunManifest manifest = read_manifest();
  Protocol& protocol = manifest.config.train;
  if (iterations <= protocol.iterations) {
    throw InputError(fmt::format("iterations is {}; the run has {}, it must be more", iterations,
                                 protocol.iterations));
  }
  if (!is_there(checkpoint_file()) && is_there(result_file())) {
    throw InputError(
        fmt::format("{}: the checkpoint of the finished run is missing; it cannot go on from there",
                    path_.string()));
  }
  const int64_t done = is_there(checkpoint_file()) ? read_progress(checkpoint_file()).iteration : 0;
  const bool held = extension == Extension::held;
  manifest.history.push_back({{"iteration", done},
                              {"iterations", {protocol.iterations, iterations}},
                              {"schedule", held ? "held" : "stretched"}});
  protocol.decay_iterations = held ? schedule_end(protocol) : 0;
  protocol.iterations = iterations;
  validate(manifest.config);
  write_manifest(manifest);
}

json RunFolder::read_result() const {
  const json result = base::read_json(result_file());
  const std::string id = read_manifest().id;
  if (!id.empty()) base::require_seal(result, result_file().string());
  with_source(result_file().string(), [&] { base::required<int64_t>(result, "iterations"); });
  require_run(result_file(), result.value(kRunIdKey, ""), id);
  return result;
}

std::vector<json> RunFolder::read_metrics() const {
  if (read_manifest().id.empty()) return read_metrics_file(metrics_file(), LineSums::none).entries;
  // Before the lines, which may grow meanwhile.
  std::vector<std::string> known;
  if (is_there(result_file())) {
    known.push_back(base::required<std::string>(read_result(), "metrics_sum"));
  }
  if (is_there(checkpoint_file())) known.push_back(read_progress(checkpoint_file()).metrics_sum);
  std::vector<json> entries = read_metrics_file(metrics_file()).entries;
  for (const std::string& sum : known) {
    const auto has_sum = [&](const json& entry) { return entry["sum"] == sum; };
    if (std::none_of(entries.begin(), entries.end(), has_sum)) {
      throw InputError(fmt::format("{}: lines are missing", metrics_file().string()));
    }
  }
  return entries;
}

std::shared_ptr<const data::Tokenizer> RunFolder::read_tokenizer() const {
  const data::Identity files = read_manifest().data_files;
  const auto own = files.find(data::kTokenizerFile);
  if (own == files.end()) return nullptr;
  if (base::checksum_of_file(tokenizer_file()) != own->second.checksum) {
    throw InputError(
        fmt::format("{} is not what the run was trained with", tokenizer_file().string()));
  }
  return data::read_tokenizer(tokenizer_file());
}

namespace {

void refuse_recursive(const RunManifest& manifest) {
  if (!manifest.config.recursive) return;
  throw InputError(fmt::format(
      "this is for models of sequences; the run's, {}, solves puzzles: see edelta eval and solve",
      manifest.config.model_name()));
}

// The configuration with its data where it is now.
TrainConfig located(const RunManifest& manifest, const std::string& where) {
  refuse_recursive(manifest);
  TrainConfig config = manifest.config;
  if (config.task) {
    if (!where.empty()) throw InputError("--data: the run's data is generated, not read");
    return config;
  }
  if (!where.empty()) config.data = where;
  if (!manifest.id.empty()) data::require_identity(config.data, manifest.data_files);
  return config;
}

}  // namespace

std::shared_ptr<const TrainingData> load_run_data(
    const RunManifest& manifest, const std::string& where,
    const std::function<void(const std::string&)>& on_notice) {
  return load_training_data(located(manifest, where), on_notice);
}

data::Dataset load_run_vectors(const RunManifest& manifest, const std::string& where) {
  return load_data(located(manifest, where));
}

fs::path run_puzzle_folder(const RunFolder& run, const RunManifest& manifest,
                           const std::string& where) {
  const bool made = manifest.config.recursive->puzzles.has_value();
  if (made && !where.empty()) throw InputError("--data: the run's puzzles are its own");
  if (!made) {
    const fs::path given = where.empty() ? manifest.config.data : where;
    data::require_identity(given, manifest.data_files);
    return given;
  }
  const fs::path folder = run.puzzle_folder();
  if (!is_there(folder)) data::write_puzzles(folder, *manifest.config.recursive->puzzles);
  data::require_identity(folder, manifest.data_files, "remove that folder, and it is made again");
  return folder;
}

void require_run_data(const RunFolder& run, const RunManifest& manifest, const std::string& where) {
  if (manifest.config.recursive) {
    run_puzzle_folder(run, manifest, where);
  } else if (!manifest.config.data.empty()) {
    located(manifest, where);
  }
}

data::PuzzleData load_run_puzzles(const RunFolder& run, const RunManifest& manifest,
                                  const std::string& where, bool sees_run) {
  const auto& made = manifest.config.recursive->puzzles;
  if (sees_run || !made) return data::read_puzzle_data(run_puzzle_folder(run, manifest, where));
  const base::TemporaryFolder temporary;  // files are mapped, and may go once they are
  const fs::path folder = temporary.path() / "puzzles";
  data::write_puzzles(folder, *made);
  data::require_identity(folder, manifest.data_files);
  return data::read_puzzle_data(folder);
}

namespace {

void require_best(const RunFolder& run, const base::Metadata& metadata, bool checked,
                  const std::string& id) {
  const auto found = metadata.find(kRunIdKey);
  require_run(run.best_folder(), found == metadata.end() ? "" : found->second, id);
  if (!id.empty() && !checked) {
    throw InputError(fmt::format("{}: its weights have no checksum", run.best_folder().string()));
  }
}

void require_there(const RunFolder& run, Which which) {
  if (which == Which::best && !is_there(run.best_folder())) {
    throw InputError(fmt::format("{}: there is no best model", run.path().string()));
  }
  if (which == Which::last && !is_there(run.checkpoint_file())) {
    throw InputError(fmt::format("{}: there is no checkpoint", run.path().string()));
  }
}

}  // namespace

std::shared_ptr<models::Model> load_run_model(const RunFolder& run, Which which) {
  const RunManifest manifest = run.read_manifest();
  with_source(run.path().string(), [&] { refuse_recursive(manifest); });
  require_there(run, which);
  if (which == Which::best) {
    const models::LoadedModel loaded = models::load_model(run.best_folder());
    require_best(run, loaded.metadata, loaded.checked, manifest.id);
    loaded.model->eval();
    return loaded.model;
  }
  auto model = models::make_model(manifest.config.model);
  AdamW optimiser(*model, manifest.config.train);
  models::State state;
  const Progress progress = read_checkpoint(run.checkpoint_file(), *model, optimiser, state);
  require_run(run.checkpoint_file(), progress.run, manifest.id);
  model->eval();
  return model;
}

std::shared_ptr<models::RecursiveModel> load_recursive_run(const RunFolder& run, Which which) {
  const RunManifest manifest = run.read_manifest();
  if (!manifest.config.recursive) {
    throw InputError(fmt::format("{}: the run's model, {}, does not solve puzzles",
                                 run.path().string(), manifest.config.model_name()));
  }
  require_there(run, which);
  if (which == Which::best) {
    const models::LoadedRecursiveModel loaded = models::load_recursive_model(run.best_folder());
    require_best(run, loaded.metadata, loaded.checked, manifest.id);
    loaded.model->eval();
    return loaded.model;
  }
  auto model = std::make_shared<models::RecursiveModel>(manifest.config.recursive->model, 0);
  const Checkpoint found = read_checkpoint(run.checkpoint_file());
  require_run(run.checkpoint_file(), found.progress.run, manifest.id);
  base::TensorMap tensors = below(found.tensors, kModelPrefix);
  for (const auto& [name, mean] : below(found.tensors, std::string(kOptimiserPrefix) + "mean/")) {
    tensors.insert_or_assign(name, mean);
  }
  models::load_tensors(*model, tensors, run.checkpoint_file().string());
  model->eval();
  return model;
}

}  // namespace edelta::train
