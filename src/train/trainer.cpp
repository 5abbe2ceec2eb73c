#include "edelta/train/trainer.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cmath>
#include <optional>

#include "base/input_file.h"
#include "base/json.h"
#include "dist/together.h"
#include "edelta/base/error.h"
#include "edelta/base/machine.h"
#include "edelta/models/model_file.h"
#include "edelta/train/optimiser.h"
#include "edelta/train/schedule.h"
#include "train/agreement.h"
#include "train/metrics.h"
#include "train/part_stream.h"
#include "train/run_lock.h"

namespace edelta::train {
namespace {

using nlohmann::ordered_json;
using torch::Tensor;
using Clock = std::chrono::steady_clock;

class Run {
 public:
  Run(const RunFolder& folder, RunManifest manifest, std::shared_ptr<const TrainingData> data,
      const TrainOptions& options)
      : folder_(folder),
        options_(options),
        ranks_(*options.ranks),
        manifest_(std::move(manifest)),
        config_(manifest_.config),
        data_(std::move(data)),
        model_(make_model()),
        optimiser_(*model_, config_.train),
        exchange_(*model_, ranks_, summation()),
        started_(Clock::now()) {
    dist::together(ranks_, [&] {
      if (!ranks_.first()) return true;
      const bool resumes = base::is_there(folder.checkpoint_file());
      resumes ? load_checkpoint() : start_anew();
      adopt_compute(resumes);
      return true;
    });
    if (ranks_.count() > 1) share_start();
  }

  TrainOutcome to_the_end() {
    const int64_t iterations = config_.train.iterations;
    if (progress_.iteration == 0) {
      progress_.initial_val_loss = validate();
      progress_.best_val_loss = progress_.initial_val_loss;
      save_best();
    }
    while (progress_.iteration < iterations) {
      const auto start = Clock::now();
      const std::optional<StepOutcome> outcome = step();
      if (!outcome) return stop();
      const double seconds = seconds_since(start);
      const int64_t done = progress_.iteration;
      const bool last = done == iterations;
      if (done % config_.train.log_interval == 0) log_step(*outcome, seconds);
      if (done % config_.train.eval_interval == 0 || last) {
        const double loss = validate();
        if (loss < progress_.best_val_loss) {
          progress_.best_val_loss = loss;
          progress_.best_iteration = done;
          save_best();
        }
      }
      report(*outcome, seconds);
      if (asked_to_stop() && !last) return stop();
      if (done % config_.train.checkpoint_interval == 0 || last) save_checkpoint();
    }
    return {0, finish()};
  }

 private:
  std::shared_ptr<models::Model> make_model() {
    data_->fit(config_);
    return models::make_model(config_.model, config_.train.seed);
  }

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  Summation summation() const { return options_.summation.value_or(manifest_.compute.summation); }

  // A signal to one rank stops all, at the same place.
  bool asked_to_stop() {
    const int own = options_.stop_signal ? options_.stop_signal() : 0;
    stopped_by_ = ranks_.count() == 1 ? own : static_cast<int>(dist::largest(ranks_, own));
    return stopped_by_ != 0;
  }

  void notice(const std::string& text) const {
    if (options_.on_notice) options_.on_notice(text);
  }

  void load_checkpoint() {
    progress_ = read_checkpoint(folder_.checkpoint_file(), *model_, optimiser_, state_);
    if (progress_.run != manifest_.id) {
      throw InputError(
          fmt::format("{} belongs to another run", folder_.checkpoint_file().string()));
    }
    seconds_before_ = progress_.seconds;
    const std::string sum = truncate_metrics_file(folder_.metrics_file(), progress_.iteration);
    if (sum != progress_.metrics_sum) {
      throw InputError(fmt::format("{}: lines are missing that lead to the checkpoint",
                                   folder_.metrics_file().string()));
    }
    log_ = std::make_unique<MetricsLog>(folder_.metrics_file(), sum);
  }

  // A run that was stopped before its first checkpoint begins again. One that had a checkpoint does
  // not: hours of work would be overwritten.
  void start_anew() {
    const auto entries = read_metrics_file(folder_.metrics_file()).entries;
    if (!entries.empty()) {
      const auto reached = entries.back()["iteration"].get<int64_t>();
      if (reached > config_.train.checkpoint_interval) {
        throw InputError(
            fmt::format("{}: the checkpoint is missing, though the run came to "
                        "iteration {}; remove metrics.jsonl to begin again",
                        folder_.path().string(), reached));
      }
      notice("there is no checkpoint yet: the run begins again");
    }
    progress_.run = manifest_.id;
    truncate_metrics_file(folder_.metrics_file(), -1);
    log_ = std::make_unique<MetricsLog>(folder_.metrics_file(), "");
  }

  // All ranks begin where the first one is.
  void share_start() {
    const ordered_json own{{"iteration", progress_.iteration},
                           {"best_iteration", progress_.best_iteration},
                           {"best_val_loss", progress_.best_val_loss},
                           {"initial_val_loss", progress_.initial_val_loss}};
    const nlohmann::json first = nlohmann::json::parse(dist::first_text(ranks_, own.dump()));
    progress_.iteration = first["iteration"];
    progress_.best_iteration = first["best_iteration"];
    progress_.best_val_loss = first["best_val_loss"];
    progress_.initial_val_loss = first["initial_val_loss"];
    for (const Tensor& parameter : model_->parameters()) ranks_.broadcast(parameter.detach());
    const base::TensorMap moments = optimiser_.state();
    for (const auto& [name, tensor] : moments) ranks_.broadcast(tensor);
    optimiser_.load_state(moments, progress_.iteration, "rank 0");
  }

  static std::string described(const Compute& compute) {
    std::string text = fmt::format("{} threads, {}", compute.threads, compute.implementation);
    if (compute.ranks > 1) text += fmt::format(", {} ranks", compute.ranks);
    if (compute.summation == Summation::tree) text += ", deterministic reduction";
    return text;
  }

  // The number of threads and ranks, the implementation and the order of sums decide about the last
  // bits.
  void adopt_compute(bool resumes) {
    Compute now = current_compute();
    now.ranks = ranks_.count();
    now.summation = summation();
    Compute& before = manifest_.compute;
    if (now == before) return;
    if (resumes) {
      if (!same_bits(before, now)) {
        notice(fmt::format(
            "continued with {}; it was trained with {}: the last bits of its numbers may differ",
            described(now), described(before)));
      }
      ordered_json change{{"iteration", progress_.iteration}};
      if (now.ranks != before.ranks) change["ranks"] = {before.ranks, now.ranks};
      if (now.summation != before.summation) {
        change["deterministic_reduction"] = {before.summation == Summation::tree,
                                             now.summation == Summation::tree};
      }
      if (now.threads != before.threads) change["threads"] = {before.threads, now.threads};
      if (now.implementation != before.implementation) {
        change["impl"] = {before.implementation, now.implementation};
      }
      manifest_.history.push_back(change);
    }
    before = now;
    folder_.write_manifest(manifest_);
  }

  double seconds() const { return seconds_before_ + seconds_since(started_); }

  // Nothing where it was given up because of a signal.
  std::optional<StepOutcome> step() {
    const models::State before = state_;
    StepOutcome outcome = iteration_gradients(
        *model_, optimiser_, state_, config_.train, *data_, progress_.iteration,
        [this] { return asked_to_stop(); }, &exchange_);
    if (ranks_.count() > 1 && !state_.empty()) {
      throw InputError(
          "the model carries a state from batch to batch, which several ranks cannot divide");
    }
    if (outcome.given_up) {
      state_ = before;
      return std::nullopt;
    }
    require_finite(outcome);
    update(optimiser_, learning_rate(config_.train, progress_.iteration), outcome);
    ++progress_.iteration;
    return outcome;
  }

  TrainOutcome stop() {
    save_checkpoint();
    return {stopped_by_, {}};
  }

  std::string what_is_kept() const {
    if (!ranks_.first()) return "rank 0 says what is kept";
    return base::is_there(folder_.checkpoint_file())
               ? fmt::format("the last good checkpoint is {}", folder_.checkpoint_file().string())
               : "there is no checkpoint yet";
  }

  void require_finite(const StepOutcome& outcome) const {
    const double loss = outcome.total();
    const int64_t iteration = progress_.iteration + 1;
    if (!std::isfinite(loss)) {
      throw Failure(
          fmt::format("iteration {}: the loss is {}; {}", iteration, loss, what_is_kept()));
    }
    if (!std::isfinite(outcome.gradient_norm)) {
      throw Failure(fmt::format("iteration {}: the gradient of '{}' is not finite; {}", iteration,
                                optimiser_.first_non_finite_gradient(), what_is_kept()));
    }
  }

  double tokens() const {
    const Protocol& protocol = config_.train;
    return static_cast<double>(protocol.batch * protocol.accumulate * data_->positions());
  }

  void log(const ordered_json& entry) {
    if (!ranks_.first()) return;
    log_->add(entry);
    if (options_.on_metrics) options_.on_metrics(entry);
  }

  void log_step(const StepOutcome& outcome, double seconds) {
    ordered_json entry{{"iteration", progress_.iteration},
                       {"lr", learning_rate(config_.train, progress_.iteration - 1)},
                       {"train_loss", outcome.loss("task")},
                       {"gate_loss", outcome.loss("gate")},
                       {"gradient_norm", outcome.gradient_norm},
                       {"parameter_norm", optimiser_.parameter_norm()}};
    if (!outcome.gates.empty()) entry["gamma"] = outcome.gammas();
    entry["tokens_per_second"] = tokens() / seconds;
    log(entry);
  }

  void report(const StepOutcome& outcome, double seconds) {
    // A running mean over some twenty steps steadies the display.
    mean_step_ = mean_step_ == 0 ? seconds : mean_step_ + 0.05 * (seconds - mean_step_);
    if (!options_.on_step) return;
    const int64_t iterations = config_.train.iterations;
    const auto left = static_cast<double>(iterations - progress_.iteration);
    options_.on_step({progress_.iteration, iterations, outcome.loss("task"), latest_val_loss_,
                      outcome.gammas(), tokens() / mean_step_, left * mean_step_});
  }

  double validate() {
    const Evaluation evaluation = data_->evaluate(*model_, Split::val, ranks_);
    ordered_json entry{{"iteration", progress_.iteration}, {"val_loss", evaluation.loss}};
    for (const auto& [name, value] : evaluation.measures) entry[name] = value;
    if (!evaluation.strata.empty()) entry["strata"] = evaluation.strata;
    log(entry);
    if (!std::isfinite(evaluation.loss)) {
      throw Failure(fmt::format("iteration {}: the validation loss is {}; {}", progress_.iteration,
                                evaluation.loss, what_is_kept()));
    }
    latest_val_loss_ = evaluation.loss;
    latest_ = evaluation;
    return evaluation.loss;
  }

  void save_best() const {
    if (!ranks_.first()) return;
    models::save_model(folder_.best_folder(), *model_, {{kRunIdKey, manifest_.id}});
  }

  void save_checkpoint() {
    if (!ranks_.first()) return;
    progress_.seconds = seconds();
    progress_.metrics_sum = log_->sum();
    log_->sync();
    write_checkpoint(folder_.checkpoint_file(), *model_, optimiser_, state_, progress_);
  }

  ordered_json finish() {
    // A run that was already complete when it was resumed has not been evaluated by this process.
    if (!latest_val_loss_) latest_ = data_->evaluate(*model_, Split::val, ranks_);
    if (!ranks_.first()) return ordered_json::parse(dist::first_text(ranks_, {}));
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
                        {"machine", base::describe_machine()},
                        {kRunIdKey, manifest_.id},
                        {"metrics_sum", progress_.metrics_sum}};
    if (!latest_.measures.empty()) result["measures"] = latest_.measures;
    result = base::sealed(result);
    base::write_json(folder_.result_file(), result);
    dist::first_text(ranks_, result.dump());
    return result;
  }

  const RunFolder& folder_;
  const TrainOptions& options_;
  dist::Ranks& ranks_;
  RunManifest manifest_;
  TrainConfig config_;
  std::shared_ptr<const TrainingData> data_;
  std::shared_ptr<models::Model> model_;
  AdamW optimiser_;
  GradientExchange exchange_;
  models::State state_;
  Progress progress_;
  std::unique_ptr<MetricsLog> log_;
  std::optional<double> latest_val_loss_;
  Evaluation latest_;
  Clock::time_point started_;
  double seconds_before_ = 0;
  double mean_step_ = 0;
  int stopped_by_ = 0;
};

}  // namespace

uint64_t dropout_key(const Protocol& protocol, int64_t iteration, int64_t part) {
  base::RandomStream random = part_stream(protocol, base::Stream::dropout, iteration, part);
  const uint64_t high = random.bits();
  return high << 32 | random.bits();
}

StepOutcome iteration_gradients(models::Model& model, AdamW& optimiser, models::State& state,
                                const Protocol& protocol, const TrainingData& data,
                                int64_t iteration, const std::function<bool()>& gives_up,
                                GradientExchange* exchange) {
  const auto batch_of = [&](int64_t part) {
    models::Batch batch = data.batch(protocol, iteration, part);
    batch.dropout_key = dropout_key(protocol, iteration, part);
    return batch;
  };
  return compute_gradients(model, optimiser, state, batch_of,
                           {.parts = protocol.accumulate,
                            .minimises = {},
                            .after = {},
                            .gives_up = gives_up,
                            .exchange = exchange});
}

namespace {

using Load = std::function<std::shared_ptr<const TrainingData>(const RunManifest&)>;

// What the first rank finds in the folder, for all of them.
struct Found {
  std::optional<nlohmann::json> result;  // of a run that is finished
  RunManifest manifest = {};
  std::unique_ptr<base::FileLock> lock = {};
};

Found find_run(const RunFolder& folder) {
  if (folder.finished()) return {.result = folder.read_result()};
  Found found{.result = {}, .manifest = folder.read_manifest()};
  if (found.manifest.id.empty()) {
    throw InputError(
        fmt::format("{}: it was begun with version 0.1.0; continue it with that, or "
                    "begin another with --config {}",
                    folder.path().string(), folder.config_file().string()));
  }
  found.lock = std::unique_ptr<base::FileLock>(new base::FileLock(lock_run(folder)));
  return found;
}

Found find_run_for_all(const RunFolder& folder, dist::Ranks& ranks) {
  Found found = dist::together(ranks, [&] { return ranks.first() ? find_run(folder) : Found(); });
  if (ranks.count() == 1) return found;
  const std::string result =
      dist::first_text(ranks, found.result ? found.result->dump() : std::string());
  if (!result.empty()) {
    found.result = nlohmann::json::parse(result);
    return found;
  }
  const std::string manifest =
      dist::first_text(ranks, ranks.first() ? to_text(found.manifest) : std::string());
  if (!ranks.first()) found.manifest = manifest_from_text(manifest);
  return found;
}

TrainOutcome train_together(const RunFolder& folder, const TrainOptions& options,
                            const Load& load) {
  dist::Ranks& ranks = *options.ranks;
  Found found = find_run_for_all(folder, ranks);
  if (found.result) return {0, *found.result};
  const Protocol& protocol = found.manifest.config.train;
  require_divisible(protocol.batch, protocol.accumulate, ranks.count(),
                    options.summation.value_or(found.manifest.compute.summation));
  require_same_computation(ranks, current_compute());
  auto data = dist::together(ranks, [&] { return load(found.manifest); });
  return Run(folder, std::move(found.manifest), std::move(data), options).to_the_end();
}

TrainOutcome train_with(const RunFolder& folder, const TrainOptions& options, const Load& load) {
  try {
    return train_together(folder, options, load);
  } catch (const std::exception& error) {
    const std::string reason = error.what();
    options.ranks->leave(reason.substr(0, reason.find('\n')));
    throw;
  }
}

}  // namespace

TrainOutcome train(const RunFolder& folder, const TrainOptions& options) {
  return train_with(folder, options, [&](const RunManifest& manifest) {
    return load_run_data(manifest, options.data, options.on_notice);
  });
}

TrainOutcome train(const RunFolder& folder, std::shared_ptr<const TrainingData> data,
                   const TrainOptions& options) {
  return train_with(folder, options, [&](const RunManifest&) { return data; });
}

}  // namespace edelta::train
