#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "edelta/base/error.h"
#include "edelta/models/recursive_file.h"
#include "edelta/train/gradient_exchange.h"
#include "edelta/train/puzzle_evaluation.h"
#include "edelta/train/recursive_optimiser.h"
#include "train/learner.h"
#include "train/puzzle_batches.h"

namespace edelta::train {
namespace {

using nlohmann::ordered_json;
using torch::Tensor;

// The means stand in for the weights as long as it lives.
class MeansInPlace {
 public:
  explicit MeansInPlace(RecursiveOptimiser& optimiser) : optimiser_(optimiser) {
    optimiser_.swap_means();
  }
  ~MeansInPlace() { optimiser_.swap_means(); }
  MeansInPlace(const MeansInPlace&) = delete;
  MeansInPlace& operator=(const MeansInPlace&) = delete;

 private:
  RecursiveOptimiser& optimiser_;
};

// What a step on the rows of all ranks comes to: losses as means over rows, the rest as sums over
// the rows that halted.
struct PuzzleOutcome {
  PuzzleOutcome() = default;
  PuzzleOutcome(const models::PuzzleOutput& output, int64_t batch, dist::Ranks& ranks) {
    const models::PuzzleMetrics& metrics = output.metrics;
    std::vector<Tensor> own{output.lm_loss,   output.q_halt_loss,     output.q_continue_loss,
                            output.gate_loss, output.total(),         metrics.count,
                            metrics.accuracy, metrics.exact_accuracy, metrics.q_halt_accuracy,
                            metrics.steps};
    const size_t fixed = own.size();
    for (const Tensor& gate : output.gates) {
      own.push_back(gate.mean() / static_cast<double>(ranks.count()));
    }
    for (Tensor& value : own) value = value.detach().to(torch::kFloat64);
    const Tensor sums = torch::stack(own);
    ranks.sum(sums);
    const auto* sum = sums.data_ptr<double>();
    const auto rows = static_cast<double>(batch);
    lm_loss = sum[0] / rows;
    q_halt_loss = sum[1] / rows;
    q_continue_loss = sum[2] / rows;
    gate_loss = sum[3] / rows;
    total = sum[4] / rows;
    halted = sum[5];
    accuracy = sum[6];
    exact_accuracy = sum[7];
    q_halt_accuracy = sum[8];
    steps = sum[9];
    gammas.assign(sum + fixed, sum + own.size());
  }

  double lm_loss = 0, q_halt_loss = 0, q_continue_loss = 0, gate_loss = 0, total = 0;
  double halted = 0, accuracy = 0, exact_accuracy = 0, q_halt_accuracy = 0, steps = 0;
  std::vector<double> gammas = {};
};

class RecursiveLearner : public Learner {
 public:
  RecursiveLearner(const TrainConfig& config, data::PuzzleData data, dist::Ranks& ranks,
                   Summation summation)
      : config_(config),
        test_(std::move(data.test)),
        ranks_(ranks),
        batches_(std::move(data.train), config.train),
        model_(config.recursive->model, config.train.seed),
        optimiser_(model_, recursive_protocol(config)),
        exchange_(model_, ranks, summation) {}

  // One step on this rank's rows, whose states are carried on; it is too short to be given up.
  bool step(int64_t iteration, const std::function<bool()>& /*gives_up*/) override {
    model_.train();
    const models::PuzzleBatch batch = batches_.at(iteration);
    const models::Exploration insisting =
        exploration(config_.train, model_.config().halt_max_steps, iteration);
    models::PuzzleOutput output =
        model_.step({own_rows(batch.inputs), own_rows(batch.labels), own_rows(batch.identifiers)},
                    carry_, models::Exploration{own_rows(insisting.u), own_rows(insisting.r)});
    // A mean over rows, where the other losses are sums.
    output.gate_loss = output.gate_loss / static_cast<double>(ranks_.count());
    exchange_.start();
    exchange_.before_backward(/*last=*/true);
    (output.total() / static_cast<double>(config_.train.batch)).backward();
    exchange_.after_backward();
    exchange_.finish();
    outcome_ = PuzzleOutcome(output, config_.train.batch, ranks_);
    if (!std::isfinite(outcome_.total)) {
      throw NotFinite{fmt::format("the loss is {}", outcome_.total)};
    }
    gradient_norm_ = update(output);
    if (!std::isfinite(gradient_norm_)) throw NotFinite{"the gradient is not finite"};
    return true;
  }

  double loss() const override { return outcome_.lm_loss; }
  std::vector<double> gammas() const override { return outcome_.gammas; }

  ordered_json entry() const override {
    ordered_json entry{{"lr", optimiser_.rate()},
                       {"train_loss", outcome_.lm_loss},
                       {"gate_loss", outcome_.gate_loss},
                       {"q_halt_loss", outcome_.q_halt_loss}};
    if (model_.config().looks_ahead()) entry["q_continue_loss"] = outcome_.q_continue_loss;
    entry["gradient_norm"] = gradient_norm_;
    entry["parameter_norm"] = optimiser_.parameter_norm();
    if (!outcome_.gammas.empty()) entry["gamma"] = outcome_.gammas;
    const double count = outcome_.halted;
    entry["halted"] = count;
    if (count == 0) return entry;
    entry["halted_accuracy"] = outcome_.accuracy / count;
    entry["halted_exact_accuracy"] = outcome_.exact_accuracy / count;
    entry["halted_q_accuracy"] = outcome_.q_halt_accuracy / count;
    entry["halted_steps"] = outcome_.steps / count;
    return entry;
  }

  int64_t tokens() const override { return config_.train.batch * model_.config().positions(); }

  int64_t parameter_count() const override { return model_.parameter_count(); }

  Evaluation evaluate() override {
    const MeansInPlace means(optimiser_);
    const PuzzleEvaluation all =
        evaluate_puzzles(model_, test_, {.most = config_.recursive->train.val_puzzles}, ranks_);
    const PuzzleScore& last = all.after.back();
    return {.loss = last.loss,
            .strata = {},
            .measures = {{"accuracy", last.accuracy},
                         {"exact_accuracy", last.exact_accuracy},
                         {"q_halt_accuracy", last.q_halt_accuracy}}};
  }

  void save_best(const std::filesystem::path& folder, const base::Metadata& metadata) override {
    const MeansInPlace means(optimiser_);
    models::save_recursive_model(folder, model_, metadata);
  }

  void write_checkpoint(const std::filesystem::path& file, const Progress& progress) override {
    base::TensorMap tensors;
    const auto add = [&](const std::string& prefix, const base::TensorMap& part) {
      for (const auto& [name, tensor] : part) tensors.emplace(prefix + name, tensor);
    };
    add(kModelPrefix, models::tensors_of(model_));
    add(kOptimiserPrefix, optimiser_.state());
    add(kStatePrefix, whole_carry_);
    train::write_checkpoint(file, tensors, progress);
  }

  Progress read_checkpoint(const std::filesystem::path& file) override {
    const Checkpoint found = train::read_checkpoint(file);
    models::load_tensors(model_, below(found.tensors, kModelPrefix), file.string());
    optimiser_.load_state(below(found.tensors, kOptimiserPrefix), found.progress.iteration,
                          file.string());
    whole_carry_ = below(found.tensors, kStatePrefix);
    if (!whole_carry_.empty()) {
      model_.require_carry(whole_carry_, config_.train.batch, file.string());
    }
    take_own_carry();
    return found.progress;
  }

  void gather() override {
    whole_carry_.clear();
    for (const auto& [name, rows] : carry_) whole_carry_.emplace(name, all_rows(rows));
  }

  void share(int64_t iteration) override {
    for (const Tensor& parameter : model_.parameters()) ranks_.broadcast(parameter.detach());
    if (model_.puzzle_table().defined()) ranks_.broadcast(model_.puzzle_table());
    const base::TensorMap moments = optimiser_.state();
    for (const auto& [name, tensor] : moments) ranks_.broadcast(tensor);
    optimiser_.load_state(moments, iteration, "rank 0");
    if (dist::first_text(ranks_, whole_carry_.empty() ? "" : "carry").empty()) return;
    if (!ranks_.first()) whole_carry_ = model_.form_of_carry(config_.train.batch);
    for (const auto& [name, rows] : whole_carry_) ranks_.broadcast(as_numbers(rows));
    take_own_carry();
  }

 private:
  // This rank's of all rows of a batch.
  Tensor own_rows(const Tensor& all) const {
    const int64_t rows = config_.train.batch / ranks_.count();
    return all.narrow(0, ranks_.rank() * rows, rows);
  }

  // The same memory in a type that ranks exchange to the last bit.
  static Tensor as_numbers(const Tensor& tensor) {
    if (tensor.scalar_type() == torch::kBool) return tensor.view(torch::kUInt8);
    return tensor.scalar_type() == torch::kFloat32 ? tensor.view(torch::kInt32) : tensor;
  }

  // Those of all ranks: each adds its own to zeros.
  Tensor all_rows(const Tensor& own) const {
    if (ranks_.count() == 1) return own;
    std::vector<int64_t> sizes = own.sizes().vec();
    sizes[0] = config_.train.batch;
    const Tensor all = torch::zeros(sizes, own.options().requires_grad(false));
    own_rows(all).copy_(own);
    ranks_.sum(as_numbers(all));
    return all;
  }

  void take_own_carry() {
    carry_.clear();
    for (const auto& [name, rows] : whole_carry_) carry_.emplace(name, own_rows(rows).clone());
  }

  // Every rank takes the same step, also of the table's rows that the others used.
  double update(models::PuzzleOutput& output) {
    const Tensor identifiers = all_rows(carry_.at("puzzle_identifiers"));
    if (output.puzzle_rows.defined() && ranks_.count() > 1) {
      const Tensor gradient = all_rows(output.puzzle_rows.grad());
      output.puzzle_rows = torch::zeros_like(gradient);
      output.puzzle_rows.mutable_grad() = gradient;
    }
    return optimiser_.step(output, identifiers);
  }

  TrainConfig config_;
  data::PuzzleSplit test_;
  dist::Ranks& ranks_;
  PuzzleBatches batches_;
  models::RecursiveModel model_;
  RecursiveOptimiser optimiser_;
  GradientExchange exchange_;
  models::State carry_;        // of this rank's rows
  models::State whole_carry_;  // of all, as a checkpoint has it
  PuzzleOutcome outcome_;
  double gradient_norm_ = 0;
};

}  // namespace

std::unique_ptr<Learner> make_recursive_learner(const TrainConfig& config, data::PuzzleData data,
                                                dist::Ranks& ranks, Summation summation) {
  return std::make_unique<RecursiveLearner>(config, std::move(data), ranks, summation);
}

}  // namespace edelta::train
