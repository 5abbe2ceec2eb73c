// What learns in a run. The loop (trainer.cpp) validates, logs, keeps the best, writes checkpoints
// and stops; all that it knows of a model is this.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "edelta/train/checkpoint.h"
#include "edelta/train/evaluate.h"
#include "edelta/train/run_folder.h"
#include "edelta/train/training_data.h"

namespace edelta::train {

// Thrown by a step: "the loss is nan".
struct NotFinite {
  std::string what;
};

class Learner {
 public:
  virtual ~Learner() = default;

  // Takes the step of iteration `iteration` (from 0), which depends on nothing but the seed, this
  // number and what was learnt before. False where it was given up: then it was never begun.
  virtual bool step(int64_t iteration, const std::function<bool()>& gives_up) = 0;
  // Of the last step: the loss that is shown, mean γ of each operator, and what metrics.jsonl says.
  virtual double loss() const = 0;
  virtual std::vector<double> gammas() const = 0;
  virtual nlohmann::ordered_json entry() const = 0;

  // Positions that a step sees.
  virtual int64_t tokens() const = 0;
  virtual int64_t parameter_count() const = 0;
  virtual Evaluation evaluate() = 0;

  // The model that evaluate() looks at.
  virtual void save_best(const std::filesystem::path& folder, const base::Metadata& metadata) = 0;
  // Brings together what the ranks have each a part of, for the first one to write.
  virtual void gather() {}
  virtual void write_checkpoint(const std::filesystem::path& file, const Progress& progress) = 0;
  virtual Progress read_checkpoint(const std::filesystem::path& file) = 0;
  // All ranks begin where the first one is, at this iteration.
  virtual void share(int64_t iteration) = 0;
};

// A transformer on sequences; fits `config` to its data.
std::unique_ptr<Learner> make_transformer_learner(TrainConfig& config,
                                                  std::shared_ptr<const TrainingData> data,
                                                  dist::Ranks& ranks, Summation summation);
// A recursive model on puzzles, whose rows the ranks divide.
std::unique_ptr<Learner> make_recursive_learner(const TrainConfig& config, data::PuzzleData data,
                                                dist::Ranks& ranks, Summation summation);

}  // namespace edelta::train
