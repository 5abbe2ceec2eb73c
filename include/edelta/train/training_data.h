// What a run learns from: sequences of vectors, or text as tokens.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "edelta/data/dataset.h"
#include "edelta/data/tokens.h"
#include "edelta/dist/ranks.h"
#include "edelta/models/model.h"
#include "edelta/train/config.h"
#include "edelta/train/evaluate.h"

namespace edelta::train {

enum class Split { train, val };

// How large a split is: 200 "sequences".
struct Extent {
  int64_t count;
  std::string unit;
};

class TrainingData {
 public:
  virtual ~TrainingData() = default;

  // Gives the configuration's model what the data decides: the dimension and the block, or the
  // vocabulary. InputError where the model was asked to be another.
  virtual void fit(TrainConfig& config) const = 0;
  // InputError where the model cannot look at the data.
  virtual void require_fits(const models::ModelConfig& model) const = 0;

  // Positions of a training sequence.
  virtual int64_t positions() const = 0;
  // What iteration `iteration` (from 0) sees in its `part`-th accumulated batch: a function of the
  // seed and these numbers alone.
  virtual models::Batch batch(const Protocol& protocol, int64_t iteration, int64_t part) const = 0;

  // The first sequences of the validation split, at most so many.
  virtual torch::Tensor validation_input(int64_t sequences) const = 0;
  // Over a whole split, deterministic, divided among the ranks, which all get the result. Leaves
  // the model in evaluation mode.
  virtual Evaluation evaluate(models::Model& model, Split split, dist::Ranks& ranks) const = 0;
  Evaluation evaluate(models::Model& model, Split split) const {
    return evaluate(model, split, dist::alone());
  }
  virtual Extent extent(Split split) const = 0;
};

// Batches are rows, drawn uniformly with replacement.
std::shared_ptr<const TrainingData> vector_data(data::Dataset dataset);
// The rows of a batch.
torch::Tensor batch_rows(const Protocol& protocol, int64_t iteration, int64_t part, int64_t rows);

// Batches are windows of `block` tokens at random places; a whole split is taken in consecutive
// windows, so that every token but the first is predicted once (specification 10.2).
std::shared_ptr<const TrainingData> token_data(data::TokenDataset dataset, int64_t block);

// The data that a configuration names; notices are one line each.
std::shared_ptr<const TrainingData> load_training_data(
    const TrainConfig& config, const std::function<void(const std::string&)>& on_notice = {});

}  // namespace edelta::train
