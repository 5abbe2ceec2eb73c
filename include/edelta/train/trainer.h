// The training loop.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "edelta/dist/ranks.h"
#include "edelta/train/checkpoint.h"
#include "edelta/train/config.h"
#include "edelta/train/evaluate.h"
#include "edelta/train/run_folder.h"
#include "edelta/train/step.h"
#include "edelta/train/training_data.h"

namespace edelta::train {

// What happened at one iteration, for a progress display.
struct StepReport {
  int64_t iteration = 0;  // iterations done
  int64_t iterations = 0;
  double train_loss = 0;
  std::optional<double> val_loss;  // the latest
  std::vector<double> gates;       // mean γ per operator
  double tokens_per_second = 0;
  double seconds_left = 0;
  std::map<std::string, double> measures = {};  // of the latest validation
};

struct TrainOptions {
  std::function<void(const StepReport&)> on_step = {};
  // Asked after every iteration and between accumulated batches; a signal's number stops the run
  // there, with a checkpoint.
  std::function<int()> stop_signal = {};
  // Every entry of metrics.jsonl, as it is written.
  std::function<void(const nlohmann::json&)> on_metrics = {};
  // What a user should know: one line each.
  std::function<void(const std::string&)> on_notice = {};
  // Where a user's data is now, if it has moved since the run was made.
  std::string data = {};
  // Who trains together; every rank calls train().
  dist::Ranks* ranks = &dist::alone();
  // How gradients are added up; unset: as the run did before.
  std::optional<Summation> summation = {};
};

struct TrainOutcome {
  int stopped_by = 0;  // the signal, or 0: finished
  nlohmann::json result;
};

// The key of the dropout masks of iteration `iteration` (from 0) in its `part`-th accumulated
// batch, a function of the seed and these numbers alone.
uint64_t dropout_key(const Protocol& protocol, int64_t iteration, int64_t part);

// The gradients of iteration `iteration` (from 0) on the training split: its batches and dropout
// masks are functions of the seed and of this number alone.
StepOutcome iteration_gradients(models::Model& model, AdamW& optimiser, models::State& state,
                                const Protocol& protocol, const TrainingData& data,
                                int64_t iteration, const std::function<bool()>& gives_up = {},
                                GradientExchange* exchange = nullptr);

// Runs, or continues, the run in `folder` to its end. The folder's config.json is the
// configuration; it is locked meanwhile. Failure on a non-finite loss or gradient, with the
// iteration and the tensor; the last checkpoint stays. Of several ranks only the first sees the
// folder, and reads and writes there; the others read their data.
TrainOutcome train(const RunFolder& folder, const TrainOptions& options = {});
// The same on data that the caller has at hand: what the configuration names, or its own.
TrainOutcome train(const RunFolder& folder, std::shared_ptr<const TrainingData> data,
                   const TrainOptions& options = {});

}  // namespace edelta::train
