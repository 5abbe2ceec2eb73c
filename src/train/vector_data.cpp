#include <fmt/format.h>

#include <algorithm>

#include "edelta/base/error.h"
#include "edelta/train/training_data.h"
#include "train/part_stream.h"

namespace edelta::train {

using torch::Tensor;

Tensor batch_rows(const Protocol& protocol, int64_t iteration, int64_t part, int64_t rows) {
  base::RandomStream random = part_stream(protocol, base::Stream::batches, iteration, part);
  std::vector<int64_t> chosen(static_cast<size_t>(protocol.batch));
  for (int64_t& row : chosen) row = random.below(static_cast<uint32_t>(rows));
  return torch::tensor(chosen, torch::kInt64);
}

namespace {

// Sequences of one pass of an evaluation.
constexpr int64_t kEvaluatedSequences = 64;

class VectorData : public TrainingData {
 public:
  explicit VectorData(data::Dataset dataset) : dataset_(std::move(dataset)) {}

  void fit(TrainConfig& config) const override {
    if (config.model.head != models::Head::continuous) {
      throw InputError("head is 'token'; for sequences of vectors it must be 'continuous'");
    }
    fit_model(config, dataset_.train_x.size(2), positions());
    config.own_block = true;  // from now on
    config.fitted = true;
  }

  void require_fits(const models::ModelConfig& model) const override {
    const Tensor& x = dataset_.val_x;
    if (model.head != models::Head::continuous) {
      throw InputError("the data is sequences of vectors; the model was trained on tokens");
    }
    if (x.size(2) != model.input_dim) {
      throw InputError(fmt::format("the data has dimension {}; the model was trained on {}",
                                   x.size(2), model.input_dim));
    }
    if (x.size(1) > model.block_size) {
      throw InputError(fmt::format("the sequences have {} positions; the model sees at most {}",
                                   x.size(1), model.block_size));
    }
  }

  int64_t positions() const override { return dataset_.train_x.size(1); }

  models::Batch batch(const Protocol& protocol, int64_t iteration, int64_t part) const override {
    const Tensor rows = batch_rows(protocol, iteration, part, dataset_.train_x.size(0));
    return {dataset_.train_x.index_select(0, rows), dataset_.train_y.index_select(0, rows)};
  }

  Tensor validation_input(int64_t sequences) const override {
    return dataset_.val_x.narrow(0, 0, std::min(sequences, dataset_.val_x.size(0)));
  }

  using TrainingData::evaluate;
  Evaluation evaluate(models::Model& model, Split split, dist::Ranks& ranks) const override {
    const bool train = split == Split::train;
    return train::evaluate(
        model, train ? dataset_.train_x : dataset_.val_x, train ? dataset_.train_y : dataset_.val_y,
        train ? std::vector<data::Stratum>() : dataset_.val_strata, kEvaluatedSequences, ranks);
  }

  Extent extent(Split split) const override {
    return {(split == Split::train ? dataset_.train_x : dataset_.val_x).size(0), "sequences"};
  }

 private:
  data::Dataset dataset_;
};

}  // namespace

std::shared_ptr<const TrainingData> vector_data(data::Dataset dataset) {
  return std::make_shared<VectorData>(std::move(dataset));
}

}  // namespace edelta::train
