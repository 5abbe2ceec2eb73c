// Everything that determines a training run.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "edelta/base/json_fields.h"
#include "edelta/data/dataset.h"
#include "edelta/data/puzzle_task.h"
#include "edelta/data/task.h"
#include "edelta/models/config.h"
#include "edelta/models/recursive_config.h"
#include "edelta/train/recursive_optimiser.h"

namespace edelta::train {

// The protocol (specification 5). The JSON keys have the names of the members.
struct Protocol {
  int64_t iterations = 2000;
  int64_t batch = 64;
  int64_t accumulate = 1;  // batches whose gradients are averaged into one step
  double lr = 1e-3;        // the peak
  double min_lr = 1e-4;
  int64_t warmup = 100;
  int64_t decay_iterations = 0;  // where the cosine ends and min_lr holds; 0: at the end
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;  // on tensors with two or more dimensions; recursive models: on all
  double grad_clip = 1;       // global norm; 0: no clipping
  uint64_t seed = 42;         // of the initial weights, the batches and dropout
  int64_t log_interval = 10;
  int64_t eval_interval = 100;
  int64_t checkpoint_interval = 100;
  bool recompute = false;  // models::Batch

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"iterations", "Optimiser steps"}, self.iterations);
    visit(Field{"batch", "Sequences a batch"}, self.batch);
    visit(Field{"accumulate", "Batches averaged into one step"}, self.accumulate);
    visit(Field{"lr", "Peak learning rate"}, self.lr);
    visit(Field{"min_lr", "Learning rate at the end"}, self.min_lr);
    visit(Field{"warmup", "Iterations of linear warm-up; by default at most a tenth of all"},
          self.warmup);
    visit(Field{"decay_iterations", "Iterations until min_lr is reached and holds; 0: all"},
          self.decay_iterations);
    visit(Field{"beta1", "AdamW's first decay rate"}, self.beta1);
    visit(Field{"beta2", "AdamW's second decay rate"}, self.beta2);
    visit(Field{"eps", "AdamW's epsilon"}, self.eps);
    visit(Field{"weight_decay",
                "Decay of tensors with two or more dimensions; of recursive models, of all"},
          self.weight_decay);
    visit(Field{"grad_clip", "Global gradient norm to clip at; 0: never"}, self.grad_clip);
    visit(Field{"seed", "Seed of weights, batches and dropout"}, self.seed);
    visit(Field{"log_interval", "Iterations between logged steps"}, self.log_interval);
    visit(Field{"eval_interval", "Iterations between validations"}, self.eval_interval);
    visit(Field{"checkpoint_interval", "Iterations between checkpoints"}, self.checkpoint_interval);
    visit(
        Field{"recompute",
              "true: the backward pass computes each block again; less memory, a third more time"},
        self.recompute);
  }
};

// InputError that names `source` and the key.
Protocol protocol_from_json(const nlohmann::json& json, const std::string& source);

// What the protocol of a recursive model has besides (specification 13.5).
struct PuzzleProtocol {
  PuzzleAdam optimizer = PuzzleAdam::atan2;
  double puzzle_emb_lr = 1e-2;
  double puzzle_emb_weight_decay = 0.1;
  double ema_rate = 0.999;
  int64_t val_puzzles = 1000;

  template <class Self, class Visit>
  static void visit_fields(Self& self, Visit visit) {
    visit(Field{"optimizer", "Of a recursive model's weights: adam_atan2 or adamw"},
          self.optimizer);
    visit(Field{"puzzle_emb_lr", "Peak learning rate of the puzzles' table", "puzzle_lr"},
          self.puzzle_emb_lr);
    visit(Field{"puzzle_emb_weight_decay", "Decay of the puzzles' table", "puzzle_weight_decay"},
          self.puzzle_emb_weight_decay);
    visit(Field{"ema_rate",
                "Of the weights' running mean, which is evaluated; 0: none; by default it forgets "
                "within a tenth of the run"},
          self.ema_rate);
    visit(Field{"val_puzzles", "Test puzzles of a validation; 0: all"}, self.val_puzzles);
  }
};

// A run of the recursive model on puzzles.
struct RecursiveRun {
  models::RecursiveConfig model;
  PuzzleProtocol train;
  std::optional<data::PuzzleTask> puzzles;  // that are made; else TrainConfig::data
};

struct TrainConfig {
  std::string preset = "paper";
  Protocol train;
  models::ModelConfig model;
  std::optional<data::TaskOptions> task;  // a generated task …
  std::string data;                       // … or a folder with the user's own sequences or text
  bool own_block = false;  // model.block_size was asked for, and is not to follow the data
  // The vocabulary that was asked for; else it is that of the tokens' folder.
  std::optional<int64_t> vocab = {};
  bool fitted = false;  // the model has what the data decides
  // A recursive model's; `model` and `task` are then without meaning.
  std::optional<RecursiveRun> recursive = {};

  std::string model_name() const;
  // The same with the mixer's name where it has one: "trm-jpmhc".
  std::string full_model_name() const;
  // What it learns from: the name of the task or of the puzzles that are made; else empty.
  std::string task_name() const;
};

void validate(const TrainConfig& config);

nlohmann::ordered_json to_json(const TrainConfig& config);

// The protocol of a recursive run as its optimiser takes it.
RecursiveProtocol recursive_protocol(const TrainConfig& config);

// Whether train_config_from_json() takes it for a recursive run: by the model's name, the preset or
// the data.
bool is_recursive(const nlohmann::json& given);
// Gives a recursive run's model the cells, tokens and puzzles of its data.
void fit_model(TrainConfig& config, const data::PuzzleInfo& info);

// Builds the configuration of a run from `given`, a JSON object with any of the keys preset, train,
// model, task, puzzles and data; what it does not say comes from the preset, what the preset does
// not say from the matched configuration of the model and the paper's protocol. `model` may be a
// string, the name of the architecture, and `task` likewise; settings go by their keys or by the
// names of their flags. A data folder of tokens means another preset and pool than one of vectors,
// where none is named. InputError that names `source`, unless it is empty, and the key.
TrainConfig train_config_from_json(const nlohmann::json& given, const std::string& source);

// The sequences of vectors that the configuration names.
data::Dataset load_data(const TrainConfig& config);
// Gives the model the dimension of such sequences, and a block as long; InputError where a shorter
// one was asked for.
void fit_model(TrainConfig& config, int64_t dim, int64_t length);

// InputError that names what is too large where training cannot fit into the memory there is,
// counting only what it needs at the least.
void require_memory(const TrainConfig& config, int64_t positions);

// Every field of a configuration that a user may set, for flags of the command line.
struct Setting {
  const char* section;  // "train", "model", "task" or "puzzles"
  Field field;
  std::string default_value;  // as text; empty where it depends on the model or task
};
// Of runs with a transformer, and of recursive ones: flags of the same name mean the same.
std::vector<Setting> settings();
std::vector<Setting> recursive_settings();

// The presets by name, with a line each on what they are for.
struct Preset {
  std::string name;
  std::string summary;
  nlohmann::json settings;  // as train_config_from_json takes them
  double size = 1;          // of the models: a factor on the depth and width of the matched ones
  bool recursive = false;   // for recursive models
};
const std::vector<Preset>& presets();
// InputError lists the known ones.
const Preset& find_preset(const std::string& name);

}  // namespace edelta::train
