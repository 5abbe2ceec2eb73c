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
#include "train/agreement.h"
#include "train/learner.h"
#include "train/metrics.h"
#include "train/part_stream.h"
#include "train/run_lock.h"

namespace edelta::train {
namespace {

using nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

Summation summation_of(const TrainOptions& options, const RunManifest& manifest) {
  return options.summation.value_or(manifest.compute.summation);
}

class Run {
 public:
  // `config` is the manifest's, fitted to the data of the learner.
  Run(const RunFolder& folder, RunManifest manifest, TrainConfig config,
      std::unique_ptr<Learner> learner, const TrainOptions& options)
      : folder_(folder),
        options_(options),
        ranks_(*options.ranks),
        manifest_(std::move(manifest)),
        config_(std::move(config)),
        learner_(std::move(learner)),
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
      if (!step()) return stop();
      const double seconds = seconds_since(start);
      const int64_t done = progress_.iteration;
      const bool last = done == iterations;
      if (done % config_.train.log_interval == 0) log_step(seconds);
      if (done % config_.train.eval_interval == 0 || last) {
        const double loss = validate();
        if (loss < progress_.best_val_loss) {
          progress_.best_val_loss = loss;
          progress_.best_iteration = done;
          save_best();
        }
      }
      report(seconds);
      if (asked_to_stop() && !last) return stop();
      if (done % config_.train.checkpoint_interval == 0 || last) save_checkpoint();
    }
    return {0, finish()};
  }

 private:
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

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
    progress_ = learner_->read_checkpoint(folder_.checkpoint_file());
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
    learner_->share(progress_.iteration);
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
    now.summation = summation_of(options_, manifest_);
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

  // False where it was given up because of a signal.
  bool step() {
    try {
      if (!learner_->step(progress_.iteration, [this] { return asked_to_stop(); })) return false;
    } catch (const NotFinite& error) {
      throw Failure(
          fmt::format("iteration {}: {}; {}", progress_.iteration + 1, error.what, what_is_kept()));
    }
    ++progress_.iteration;
    return true;
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

  void log(const ordered_json& entry) {
    if (!ranks_.first()) return;
    log_->add(entry);
    if (options_.on_metrics) options_.on_metrics(entry);
  }

  void log_step(double seconds) {
    ordered_json entry{{"iteration", progress_.iteration}};
    entry.update(learner_->entry());
    entry["tokens_per_second"] = static_cast<double>(learner_->tokens()) / seconds;
    log(entry);
  }

  void report(double seconds) {
    // A running mean over some twenty steps steadies the display.
    mean_step_ = mean_step_ == 0 ? seconds : mean_step_ + 0.05 * (seconds - mean_step_);
    if (!options_.on_step) return;
    const int64_t iterations = config_.train.iterations;
    const auto left = static_cast<double>(iterations - progress_.iteration);
    options_.on_step({progress_.iteration, iterations, learner_->loss(), latest_val_loss_,
                      learner_->gammas(), static_cast<double>(learner_->tokens()) / mean_step_,
                      left * mean_step_, latest_.measures});
  }

  double validate() {
    const Evaluation evaluation = learner_->evaluate();
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
    learner_->save_best(folder_.best_folder(), {{kRunIdKey, manifest_.id}});
  }

  void save_checkpoint() {
    learner_->gather();
    if (!ranks_.first()) return;
    progress_.seconds = seconds();
    progress_.metrics_sum = log_->sum();
    log_->sync();
    learner_->write_checkpoint(folder_.checkpoint_file(), progress_);
  }

  ordered_json finish() {
    // A run that was already complete when it was resumed has not been evaluated by this process.
    if (!latest_val_loss_) latest_ = learner_->evaluate();
    if (!ranks_.first()) return ordered_json::parse(dist::first_text(ranks_, {}));
    ordered_json result{{"model", config_.model_name()},
                        {"task", config_.data.empty() ? config_.task_name() : config_.data},
                        {"preset", config_.preset},
                        {"seed", config_.train.seed},
                        {"iterations", config_.train.iterations},
                        {"parameters", learner_->parameter_count()},
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
  std::unique_ptr<Learner> learner_;
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
    batch.recompute = protocol.recompute;
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

// Gives the learner, and fits the configuration to its data.
using Load = std::function<std::unique_ptr<Learner>(const RunManifest&, TrainConfig&)>;

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
  Compute compute = current_compute();
  compute.summation = summation_of(options, found.manifest);
  require_same_computation(ranks, compute);
  require_divisible(found.manifest.config, ranks.count(), compute.summation);
  TrainConfig config = found.manifest.config;
  auto learner = dist::together(ranks, [&] { return load(found.manifest, config); });
  return Run(folder, std::move(found.manifest), std::move(config), std::move(learner), options)
      .to_the_end();
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
  return train_with(folder, options, [&](const RunManifest& manifest, TrainConfig& config) {
    if (config.recursive) {
      return make_recursive_learner(
          config, load_run_puzzles(folder, manifest, options.data, options.ranks->first()),
          *options.ranks, summation_of(options, manifest));
    }
    return make_transformer_learner(config,
                                    load_run_data(manifest, options.data, options.on_notice),
                                    *options.ranks, summation_of(options, manifest));
  });
}

TrainOutcome train(const RunFolder& folder, std::shared_ptr<const TrainingData> data,
                   const TrainOptions& options) {
  return train_with(folder, options, [&](const RunManifest& manifest, TrainConfig& config) {
    return make_transformer_learner(config, data, *options.ranks, summation_of(options, manifest));
  });
}

}  // namespace edelta::train
