#include <fmt/format.h>

#include <cmath>

#include "edelta/base/error.h"
#include "edelta/models/model_file.h"
#include "edelta/train/optimiser.h"
#include "edelta/train/schedule.h"
#include "edelta/train/trainer.h"
#include "train/learner.h"

namespace edelta::train {
namespace {

using nlohmann::ordered_json;
using torch::Tensor;

std::shared_ptr<models::Model> fitted_model(TrainConfig& config, const TrainingData& data) {
  data.fit(config);
  return models::make_model(config.model, config.train.seed);
}

class TransformerLearner : public Learner {
 public:
  TransformerLearner(TrainConfig& config, std::shared_ptr<const TrainingData> data,
                     dist::Ranks& ranks, Summation summation)
      : data_(std::move(data)),
        ranks_(ranks),
        model_(fitted_model(config, *data_)),
        protocol_(config.train),
        optimiser_(*model_, protocol_),
        exchange_(*model_, ranks, summation) {}

  bool step(int64_t iteration, const std::function<bool()>& gives_up) override {
    const models::State before = state_;
    outcome_ = iteration_gradients(*model_, optimiser_, state_, protocol_, *data_, iteration,
                                   gives_up, &exchange_);
    if (ranks_.count() > 1 && !state_.empty()) {
      throw InputError(
          "the model carries a state from batch to batch, which several ranks cannot divide");
    }
    if (outcome_.given_up) {
      state_ = before;
      return false;
    }
    require_finite();
    learning_rate_ = learning_rate(protocol_, iteration);
    update(optimiser_, learning_rate_, outcome_);
    return true;
  }

  double loss() const override { return outcome_.loss("task"); }
  std::vector<double> gammas() const override { return outcome_.gammas(); }

  ordered_json entry() const override {
    ordered_json entry{{"lr", learning_rate_},
                       {"train_loss", outcome_.loss("task")},
                       {"gate_loss", outcome_.loss("gate")},
                       {"gradient_norm", outcome_.gradient_norm},
                       {"parameter_norm", optimiser_.parameter_norm()}};
    if (!outcome_.gates.empty()) entry["gamma"] = outcome_.gammas();
    return entry;
  }

  int64_t tokens() const override {
    return protocol_.batch * protocol_.accumulate * data_->positions();
  }
  int64_t parameter_count() const override { return model_->parameter_count(); }
  Evaluation evaluate() override { return data_->evaluate(*model_, Split::val, ranks_); }

  void save_best(const std::filesystem::path& folder, const base::Metadata& metadata) override {
    models::save_model(folder, *model_, metadata);
  }
  void write_checkpoint(const std::filesystem::path& file, const Progress& progress) override {
    train::write_checkpoint(file, *model_, optimiser_, state_, progress);
  }
  Progress read_checkpoint(const std::filesystem::path& file) override {
    return train::read_checkpoint(file, *model_, optimiser_, state_);
  }

  void share(int64_t iteration) override {
    for (const Tensor& parameter : model_->parameters()) ranks_.broadcast(parameter.detach());
    const base::TensorMap moments = optimiser_.state();
    for (const auto& [name, tensor] : moments) ranks_.broadcast(tensor);
    optimiser_.load_state(moments, iteration, "rank 0");
  }

 private:
  void require_finite() const {
    const double loss = outcome_.total();
    if (!std::isfinite(loss)) throw NotFinite{fmt::format("the loss is {}", loss)};
    if (!std::isfinite(outcome_.gradient_norm)) {
      throw NotFinite{fmt::format("the gradient of '{}' is not finite",
                                  optimiser_.first_non_finite_gradient())};
    }
  }

  std::shared_ptr<const TrainingData> data_;
  dist::Ranks& ranks_;
  std::shared_ptr<models::Model> model_;
  Protocol protocol_;
  AdamW optimiser_;
  GradientExchange exchange_;
  models::State state_;
  StepOutcome outcome_;
  double learning_rate_ = 0;
};

}  // namespace

std::unique_ptr<Learner> make_transformer_learner(TrainConfig& config,
                                                  std::shared_ptr<const TrainingData> data,
                                                  dist::Ranks& ranks, Summation summation) {
  return std::make_unique<TransformerLearner>(config, std::move(data), ranks, summation);
}

}  // namespace edelta::train
