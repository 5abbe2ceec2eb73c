// The folder of a run:
//   config.json                        what the run is (RunManifest)
//   metrics.jsonl                      one object per logged step or evaluation
//   checkpoint/checkpoint.safetensors  where to resume
//   best/                              the model with the lowest validation loss
//   result.json                        written at the end
//   puzzles/                           those that were made for it
//   tokenizer.json                     of a model of text, as the data had it
//   lock                               held by the process that trains
// Every file carries a checksum and says which run it belongs to: what was changed, damaged, cut
// off or taken from another run is an InputError.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edelta/data/identity.h"
#include "edelta/data/puzzle_data.h"
#include "edelta/data/puzzle_task.h"
#include "edelta/models/model.h"
#include "edelta/models/recursive.h"
#include "edelta/train/config.h"
#include "edelta/train/gradient_exchange.h"
#include "edelta/train/training_data.h"

namespace edelta::train {

// Under which key every file of a run says whose it is.
inline constexpr const char* kRunIdKey = "run_id";

// What the bits of a run depend on besides its configuration.
struct Compute {
  int64_t threads = 0;  // of every rank
  std::string implementation;
  int64_t ranks = 1;
  Summation summation = Summation::running;
  bool operator==(const Compute&) const = default;
};
// What this process computes with, alone.
Compute current_compute();
// Whether both give the same bits: a tree's sum does not depend on the number of ranks.
bool same_bits(const Compute& a, const Compute& b);

// What config.json says.
struct RunManifest {
  // The same for ever: a checksum of what the run was made as. Empty for a run of version 0.1.0,
  // whose files have no checksums: it can be read and evaluated, not continued.
  std::string id;
  TrainConfig config;
  Compute compute = {};
  data::Identity data_files = {};  // where the data is a user's own
  // What was changed on the way: {"iteration": …, "what": [before, after], …} each.
  nlohmann::ordered_json history = nlohmann::ordered_json::array();
};

// What config.json says as text, and back: for ranks that do not see the folder.
std::string to_text(const RunManifest& manifest);
RunManifest manifest_from_text(const std::string& text);

// The configuration in a run's config.json, as train_config_from_json() takes it for another run.
nlohmann::json configuration_in(nlohmann::json manifest);

// How a run's learning rate goes on when it is extended.
enum class Extension {
  held,      // min_lr holds
  stretched  // the cosine reaches min_lr at the new end
};

class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config_file() const { return path_ / "config.json"; }
  std::filesystem::path metrics_file() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path checkpoint_file() const {
    return path_ / "checkpoint" / "checkpoint.safetensors";
  }
  std::filesystem::path best_folder() const { return path_ / "best"; }
  std::filesystem::path result_file() const { return path_ / "result.json"; }
  std::filesystem::path tokenizer_file() const { return path_ / "tokenizer.json"; }
  std::filesystem::path puzzle_folder() const { return path_ / "puzzles"; }
  std::filesystem::path lock_file() const { return path_ / "lock"; }

  bool exists() const;
  // result.json is there, and it is that of all iterations.
  bool finished() const;

  // Makes the folder and writes config.json, with the absolute path and the checksums of a user's
  // data; InputError if a run is already there, unless `replace` is set: then it is removed.
  // `on_puzzles` hears how far the puzzles are that it makes; nothing is left where it throws.
  void create(const TrainConfig& config, bool replace = false,
              const data::OnPuzzleProgress& on_puzzles = {}) const;
  // InputError if there is no run.
  RunManifest read_manifest() const;
  TrainConfig read_config() const { return read_manifest().config; }
  void write_manifest(const RunManifest& manifest) const;

  // More iterations for a run; InputError where they are not more.
  void extend(int64_t iterations, Extension extension) const;

  nlohmann::json read_result() const;
  // Whole lines; InputError where one is damaged, or where lines are missing that the checkpoint or
  // the result knows of.
  std::vector<nlohmann::json> read_metrics() const;
  // Null where the run's data has none: sequences of vectors, or tokens of unknown meaning.
  std::shared_ptr<const data::Tokenizer> read_tokenizer() const;

 private:
  std::filesystem::path path_;
};

// The run's data: generated, or read from where it was, or from `where` it is now. InputError where
// a user's files are not those that the run was made with.
std::shared_ptr<const TrainingData> load_run_data(
    const RunManifest& manifest, const std::string& where = {},
    const std::function<void(const std::string&)>& on_notice = {});
// The same for who needs the vectors themselves; InputError where the data is text.
data::Dataset load_run_vectors(const RunManifest& manifest, const std::string& where = {});

// Where a recursive run's puzzles are: in it, or where they were, or `where` they are now.
// InputError where they are not those that the run was made with.
std::filesystem::path run_puzzle_folder(const RunFolder& run, const RunManifest& manifest,
                                        const std::string& where = {});
// InputError where a run's data, of whatever kind, is not what the run was made with.
void require_run_data(const RunFolder& run, const RunManifest& manifest, const std::string& where);
// What is in a folder of puzzles. A rank that does not see the run's folder makes puzzles that are
// the run's own once more.
data::PuzzleData load_run_puzzles(const RunFolder& run, const RunManifest& manifest,
                                  const std::string& where, bool sees_run);

// Which of a run's two models. InputError where it is of the other kind than asked for.
enum class Which { best, last };
std::shared_ptr<models::Model> load_run_model(const RunFolder& run, Which which);
// With the running means of the weights, where the run has them.
std::shared_ptr<models::RecursiveModel> load_recursive_run(const RunFolder& run, Which which);

}  // namespace edelta::train
