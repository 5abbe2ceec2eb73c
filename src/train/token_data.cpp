#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "data/data_kind.h"
#include "edelta/base/error.h"
#include "edelta/train/training_data.h"
#include "train/part_stream.h"

namespace edelta::train {
namespace {

using torch::Tensor;

// Tokens of one pass of an evaluation, whatever the windows' length.
constexpr int64_t kEvaluatedTokens = 16384;

class TokenData : public TrainingData {
 public:
  TokenData(data::TokenDataset dataset, int64_t block)
      : dataset_(std::move(dataset)), block_(block) {}

  void fit(TrainConfig& config) const override {
    if (config.model.head != models::Head::token) {
      throw InputError("head is 'continuous'; for tokens it must be 'token'");
    }
    if (dataset_.train.size() <= block_) {
      throw InputError(
          fmt::format("the training split has {} tokens; a window of {} positions ({}) needs {}",
                      dataset_.train.size(), block_, field_name<models::ModelConfig>("block_size"),
                      block_ + 1));
    }
    config.model.vocab_size = dataset_.vocab_size;
    config.vocab = dataset_.vocab_size;
    config.fitted = true;
  }

  void require_fits(const models::ModelConfig& model) const override {
    if (model.head != models::Head::token) {
      throw InputError("the data is tokens; the model was trained on sequences of vectors");
    }
    if (dataset_.vocab_size > model.vocab_size) {
      throw InputError(fmt::format("the data has {} different tokens; the model was trained on {}",
                                   dataset_.vocab_size, model.vocab_size));
    }
  }

  int64_t positions() const override { return block_; }

  models::Batch batch(const Protocol& protocol, int64_t iteration, int64_t part) const override {
    base::RandomStream random = part_stream(protocol, base::Stream::batches, iteration, part);
    const auto places = static_cast<uint64_t>(dataset_.train.size() - block_);
    Tensor windows = torch::empty({protocol.batch, block_ + 1}, torch::kInt64);
    for (int64_t i = 0; i < protocol.batch; ++i) {
      dataset_.train.copy(static_cast<int64_t>(random.below64(places)), block_ + 1,
                          windows[i].data_ptr<int64_t>());
    }
    return shifted(windows);
  }

  Tensor validation_input(int64_t sequences) const override {
    const int64_t whole = (dataset_.val.size() - 1) / block_;
    if (whole == 0) return consecutive(dataset_.val, 0, 1, dataset_.val.size() - 1).input;
    return consecutive(dataset_.val, 0, std::min(sequences, whole), block_).input;
  }

  using TrainingData::evaluate;
  Evaluation evaluate(models::Model& model, Split split, dist::Ranks& ranks) const override {
    const torch::NoGradGuard no_grad;
    model.eval();
    const data::TokenFile& file = file_of(split);
    const int64_t predicted = file.size() - 1, whole = predicted / block_;
    const int64_t at_once = std::max<int64_t>(1, kEvaluatedTokens / block_);
    // Of every pass; a rank leaves zeros for the others, so that their sum is exact.
    const int64_t passes = (whole + at_once - 1) / at_once + (predicted % block_ > 0 ? 1 : 0);
    const Tensor sums = torch::zeros({passes}, torch::kFloat64);
    int64_t pass = 0;
    const auto add = [&](int64_t begin, int64_t windows, int64_t length) {
      const int64_t own = pass++;
      if (own % ranks.count() != ranks.rank()) return;
      models::State state;
      models::Batch batch = consecutive(file, begin, windows, length);
      batch.wants_prediction = false;
      const models::Output output = model.forward(batch, state);
      sums.data_ptr<double>()[own] =
          output.losses.front().value.item<double>() * static_cast<double>(windows * length);
    };
    for (int64_t window = 0; window < whole; window += at_once) {
      add(window * block_, std::min(at_once, whole - window), block_);
    }
    if (const int64_t rest = predicted % block_; rest > 0) add(whole * block_, 1, rest);
    ranks.sum(sums);
    double sum = 0;
    for (int64_t i = 0; i < passes; ++i) sum += sums.data_ptr<double>()[i];
    return measured(sum / static_cast<double>(predicted), file.size(), bytes_of(split));
  }

  Extent extent(Split split) const override { return {file_of(split).size(), "tokens"}; }

 private:
  const data::TokenFile& file_of(Split split) const {
    return split == Split::train ? dataset_.train : dataset_.val;
  }
  int64_t bytes_of(Split split) const {
    return split == Split::train ? dataset_.train_bytes : dataset_.val_bytes;
  }

  // Every token is the target of the one before it.
  static models::Batch shifted(const Tensor& windows) {
    const int64_t length = windows.size(1) - 1;
    return {windows.narrow(1, 0, length).contiguous(), windows.narrow(1, 1, length).contiguous()};
  }

  // Windows one after the other, each beginning with the last target of the one before.
  static models::Batch consecutive(const data::TokenFile& file, int64_t begin, int64_t windows,
                                   int64_t length) {
    Tensor tokens = torch::empty({windows, length + 1}, torch::kInt64);
    for (int64_t i = 0; i < windows; ++i) {
      file.copy(begin + i * length, length + 1, tokens[i].data_ptr<int64_t>());
    }
    return shifted(tokens);
  }

  static Evaluation measured(double loss, int64_t tokens, int64_t bytes) {
    Evaluation evaluation{.loss = loss, .measures = {{"perplexity", std::exp(loss)}}};
    if (bytes > 0) {
      evaluation.measures["bits_per_byte"] =
          loss * static_cast<double>(tokens) / (std::numbers::ln2 * static_cast<double>(bytes));
    }
    return evaluation;
  }

  data::TokenDataset dataset_;
  int64_t block_;
};

}  // namespace

std::shared_ptr<const TrainingData> token_data(data::TokenDataset dataset, int64_t block) {
  return std::make_shared<TokenData>(std::move(dataset), block);
}

std::shared_ptr<const TrainingData> load_training_data(
    const TrainConfig& config, const std::function<void(const std::string&)>& on_notice) {
  if (config.model.head == models::Head::continuous) return vector_data(load_data(config));
  data::require_kind(config.data, data::DataKind::text);
  return token_data(data::read_token_dataset(config.data, config.vocab, on_notice),
                    config.model.block_size);
}

}  // namespace edelta::train
