// Everything that determines a training run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "edelta/data/dataset.h"
#include "edelta/data/task.h"
#include "edelta/models/config.h"

namespace edelta::train {

// The protocol (SPEC 5). The JSON keys have the names of the members.
struct Protocol {
  int64_t iterations = 2000;
  int64_t batch = 64;
  int64_t accumulate = 1;  // batches whose gradients are averaged into one step
  double lr = 1e-3;        // the peak
  double min_lr = 1e-4;
  int64_t warmup = 100;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;  // on tensors with two or more dimensions
  double grad_clip = 1;       // global norm; 0: no clipping
  uint64_t seed = 42;         // of the initial weights, the batches and dropout
  int64_t log_interval = 10;
  int64_t eval_interval = 100;
  int64_t checkpoint_interval = 100;
};

// InputError that names `source` and the key.
Protocol protocol_from_json(const nlohmann::json& json, const std::string& source);

struct TrainConfig {
  std::string preset = "paper";
  Protocol train;
  models::ModelConfig model;
  std::optional<data::TaskOptions> task;  // a generated task …
  std::string data;                       // … or a folder with the user's own sequences
};

void validate(const TrainConfig& config);

nlohmann::ordered_json to_json(const TrainConfig& config);

// Builds the configuration of a run from `given`, a JSON object with any of the keys preset, train,
// model, task and data; what it does not say comes from the preset, what the preset does not say
// from the matched configuration of the model and the paper's protocol. `model` may be a string,
// the name of the architecture, and `task` likewise. InputError that names `source` and the key.
TrainConfig train_config_from_json(const nlohmann::json& given, const std::string& source);

// The data that the configuration names.
data::Dataset load_data(const TrainConfig& config);
// Gives the model the data's dimension, and a block at least as long as its sequences.
void fit_model_to_data(TrainConfig& config, const data::Dataset& dataset);

// "paper", "quick" and "smoke", with a line each on what they are for.
struct Preset {
  std::string name;
  std::string summary;
  nlohmann::json settings;  // as train_config_from_json takes them
  double size = 1;          // of the models: a factor on the depth and width of the matched ones
};
const std::vector<Preset>& presets();

}  // namespace edelta::train
