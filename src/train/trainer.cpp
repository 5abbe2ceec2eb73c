#include "edelta/train/trainer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "base/json.h"
#include "base/random.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/models/model_file.h"
#include "edelta/train/optimiser.h"
#include "edelta/train/schedule.h"
#include "edelta/train/step.h"

namespace edelta::train {
namespace {

using nlohmann::ordered_json;
using torch::Tensor;
using Clock = std::chrono::steady_clock;

// Appends lines to metrics.jsonl; a line that can't be written is a Failure.
class MetricsLog {
 public:
  explicit MetricsLog(const std::filesystem::path& path)
      : path_(path), file_(std::fopen(path.c_str(), "ab"), &std::fclose) {
    if (!file_) fail();
  }
  void add(const ordered_json& entry) {
    const std::string line = entry.dump() + "\n";
    if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
        std::fflush(file_.get()) != 0) {
      fail();
    }
  }

 private:
  [[noreturn]] void fail() const {
    throw Failure(fmt::format("{}: {}", path_.string(), std::strerror(errno)));
  }
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

class Run {
 public:
  Run(const RunFolder& folder, TrainConfig config, data::Dataset dataset,
      const TrainOptions& options)
      : folder_(folder),
        options_(options),
        config_(std::move(config)),
        dataset_(std::move(dataset)),
        model_(make_model()),
        optimiser_(*model_, config_.train),
        started_(Clock::now()) {
    if (std::filesystem::exists(folder.checkpoint_file())) {
      progress_ = read_checkpoint(folder.checkpoint_file(), *model_, optimiser_, state_);
      seconds_before_ = progress_.seconds;
      folder.truncate_metrics(progress_.iteration);
    } else {
      folder.truncate_metrics(-1);
    }
    log_ = std::make_unique<MetricsLog>(folder.metrics_file());
  }

  TrainOutcome to_the_end() {
    const int64_t iterations = config_.train.iterations;
    if (progress_.iteration == 0) {
      progress_.initial_val_loss = validate();
      progress_.best_val_loss = progress_.initial_val_loss;
      save_best();
    }
    while (progress_.iteration < iterations) {
      step();
      const int64_t done = progress_.iteration;
      const bool last = done == iterations;
      if (done % config_.train.eval_interval == 0 || last) {
        const double loss = validate();
        if (loss < progress_.best_val_loss) {
          progress_.best_val_loss = loss;
          progress_.best_iteration = done;
          save_best();
        }
      }
      const int signal = options_.stop_signal ? options_.stop_signal() : 0;
      if (done % config_.train.checkpoint_interval == 0 || last || signal != 0) save_checkpoint();
      if (signal != 0 && !last) return {signal, {}};
    }
    return {0, finish()};
  }

 private:
  std::shared_ptr<models::Model> make_model() {
    fit_model_to_data(config_, dataset_);
    return models::make_model(config_.model, config_.train.seed);
  }

  double seconds() const {
    return seconds_before_ + std::chrono::duration<double>(Clock::now() - started_).count();
  }

  void step() {
    const auto start = Clock::now();
    const Protocol& protocol = config_.train;
    const int64_t iteration = progress_.iteration;
    const double lr = learning_rate(protocol, iteration);
    if (config_.model.dropout > 0) {
      base::RandomStream random(protocol.seed, base::Stream::dropout,
                                static_cast<uint64_t>(iteration));
      torch::manual_seed(random.bits());
    }
    const auto batch_of = [&](int64_t part) -> models::Batch {
      const Tensor rows = batch_rows(protocol, iteration, part, dataset_.train_x.size(0));
      return {dataset_.train_x.index_select(0, rows), dataset_.train_y.index_select(0, rows)};
    };
    const StepOutcome outcome =
        compute_gradients(*model_, optimiser_, state_, batch_of, {.parts = protocol.accumulate});
    require_finite(outcome);
    update(optimiser_, lr, outcome);
    ++progress_.iteration;

    const double step_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    report_step(lr, outcome, step_seconds);
  }

  void require_finite(const StepOutcome& outcome) const {
    const double loss = outcome.total();
    const int64_t iteration = progress_.iteration + 1;
    const std::string kept =
        fmt::format("the last good checkpoint is {}", folder_.checkpoint_file().string());
    if (!std::isfinite(loss)) {
      throw Failure(fmt::format("iteration {}: the loss is {}; {}", iteration, loss, kept));
    }
    if (!std::isfinite(outcome.gradient_norm)) {
      throw Failure(fmt::format("iteration {}: the gradient of '{}' is not finite; {}", iteration,
                                optimiser_.first_non_finite_gradient(), kept));
    }
  }

  void report_step(double lr, const StepOutcome& outcome, double step_seconds) {
    const Protocol& protocol = config_.train;
    const double tokens =
        static_cast<double>(protocol.batch * protocol.accumulate * dataset_.train_x.size(1));
    // A running mean over some twenty steps steadies the display.
    mean_step_ = mean_step_ == 0 ? step_seconds : mean_step_ + 0.05 * (step_seconds - mean_step_);
    const bool logs = progress_.iteration % protocol.log_interval == 0;
    if (!logs && !options_.on_step) return;
    std::vector<double> gammas;
    for (const Tensor& gate : outcome.gates) gammas.push_back(gate.detach().mean().item<double>());
    if (logs) {
      ordered_json entry{{"iteration", progress_.iteration},
                         {"lr", lr},
                         {"train_loss", outcome.loss("task")},
                         {"gate_loss", outcome.loss("gate")},
                         {"gradient_norm", outcome.gradient_norm},
                         {"parameter_norm", optimiser_.parameter_norm()}};
      if (!gammas.empty()) entry["gamma"] = gammas;
      entry["tokens_per_second"] = tokens / step_seconds;
      log_->add(entry);
    }
    if (options_.on_step) {
      const auto left = static_cast<double>(protocol.iterations - progress_.iteration);
      options_.on_step({progress_.iteration, protocol.iterations, outcome.loss("task"),
                        latest_val_loss_, gammas, tokens / mean_step_, left * mean_step_});
    }
  }

  double validate() {
    const Evaluation evaluation =
        evaluate(*model_, dataset_.val_x, dataset_.val_y, dataset_.val_strata);
    ordered_json entry{{"iteration", progress_.iteration}, {"val_loss", evaluation.loss}};
    if (!evaluation.strata.empty()) entry["strata"] = evaluation.strata;
    log_->add(entry);
    if (!std::isfinite(evaluation.loss)) {
      throw Failure(
          fmt::format("iteration {}: the validation loss is {}; the last good checkpoint "
                      "is {}",
                      progress_.iteration, evaluation.loss, folder_.checkpoint_file().string()));
    }
    latest_val_loss_ = evaluation.loss;
    latest_ = evaluation;
    return evaluation.loss;
  }

  void save_best() const { models::save_model(folder_.best_folder(), *model_); }

  void save_checkpoint() {
    progress_.seconds = seconds();
    write_checkpoint(folder_.checkpoint_file(), *model_, optimiser_, state_, progress_);
  }

  ordered_json finish() {
    // A run that was already complete when it was resumed has not been evaluated by this process.
    if (!latest_val_loss_) {
      latest_ = evaluate(*model_, dataset_.val_x, dataset_.val_y, dataset_.val_strata);
    }
    ordered_json result{{"model", config_.model.model},
                        {"task", config_.task ? config_.task->task : config_.data},
                        {"preset", config_.preset},
                        {"seed", config_.train.seed},
                        {"iterations", config_.train.iterations},
                        {"parameters", model_->parameter_count()},
                        {"initial_val_loss", progress_.initial_val_loss},
                        {"best_val_loss", progress_.best_val_loss},
                        {"best_iteration", progress_.best_iteration},
                        {"final_val_loss", latest_.loss},
                        {"strata", latest_.strata},
                        {"seconds", progress_.seconds},
                        {"machine", base::describe_machine()}};
    base::write_json(folder_.result_file(), result);
    return result;
  }

  const RunFolder& folder_;
  const TrainOptions& options_;
  TrainConfig config_;
  data::Dataset dataset_;
  std::shared_ptr<models::Model> model_;
  AdamW optimiser_;
  models::State state_;
  Progress progress_;
  std::unique_ptr<MetricsLog> log_;
  std::optional<double> latest_val_loss_;
  Evaluation latest_;
  Clock::time_point started_;
  double seconds_before_ = 0;
  double mean_step_ = 0;
};

}  // namespace

Tensor batch_rows(const Protocol& protocol, int64_t iteration, int64_t part, int64_t rows) {
  const int64_t index = iteration * protocol.accumulate + part;
  base::RandomStream random(protocol.seed, base::Stream::batches, static_cast<uint64_t>(index));
  std::vector<int64_t> chosen(static_cast<size_t>(protocol.batch));
  for (int64_t& row : chosen) row = random.below(static_cast<uint32_t>(rows));
  return torch::tensor(chosen, torch::kInt64);
}

TrainOutcome train(const RunFolder& folder, const TrainOptions& options) {
  if (folder.finished()) return {0, folder.read_result()};
  TrainConfig config = folder.read_config();
  data::Dataset dataset = load_data(config);
  return Run(folder, std::move(config), std::move(dataset), options).to_the_end();
}

TrainOutcome train(const RunFolder& folder, data::Dataset dataset, const TrainOptions& options) {
  if (folder.finished()) return {0, folder.read_result()};
  return Run(folder, folder.read_config(), std::move(dataset), options).to_the_end();
}

}  // namespace edelta::train
