// The folder of a run:
//   config.json                        the effective configuration
//   metrics.jsonl                      one object per logged step or evaluation
//   checkpoint/checkpoint.safetensors  where to resume
//   best/                              the model with the lowest validation loss
//   result.json                        written at the end: the run is finished when it is there
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edelta/models/model.h"
#include "edelta/train/config.h"

namespace edelta::train {

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

  bool exists() const { return std::filesystem::exists(config_file()); }
  bool finished() const { return std::filesystem::exists(result_file()); }

  // Makes the folder and writes config.json; InputError if a run is already there.
  void create(const TrainConfig& config) const;
  // InputError if there is no run.
  TrainConfig read_config() const;
  nlohmann::json read_result() const;
  std::vector<nlohmann::json> read_metrics() const;

  // Drops what was logged after `iteration`, and a line that a crash cut off.
  void truncate_metrics(int64_t iteration) const;

 private:
  std::filesystem::path path_;
};

// Which of a run's two models.
enum class Which { best, last };
std::shared_ptr<models::Model> load_run_model(const RunFolder& run, Which which);

}  // namespace edelta::train
