// One training step: forward, backward, clip, update. Training, the benchmark and the comparison
// with traces all take it from here.
#pragma once

#include "edelta/torch.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "edelta/models/model.h"
#include "edelta/train/gradient_exchange.h"
#include "edelta/train/optimiser.h"

namespace edelta::train {

enum class StepPhase { forward, backward, update };

struct StepOptions {
  // The gradients of so many batches are averaged into one step.
  int64_t parts = 1;
  // Whether a loss of the model is minimised, by its name; unset: all are.
  std::function<bool(const std::string& loss)> minimises = {};
  // Called when a phase of a part has ended, the update once.
  std::function<void(StepPhase)> after = {};
  // Asked before every part but the first; true: the step is given up. Ranks must agree.
  std::function<bool()> gives_up = {};
  // How the parts' gradients are added up, and over which ranks; unset: one after the other, here.
  GradientExchange* exchange = nullptr;
};

struct StepOutcome {
  bool given_up = false;                 // then nothing else is of use
  std::map<std::string, double> losses;  // averaged over the parts, of all ranks
  double gradient_norm = 0;              // before clipping
  std::vector<torch::Tensor> gates;      // of the last part that was computed here
  std::vector<double> rank_gammas;       // with several ranks: mean γ of the last part, over all

  std::vector<double> gammas() const;          // mean γ of each operator in the last part
  double loss(const std::string& name) const;  // 0 where the model has none of that name
  double total() const;
};

// The gradients of all parts, in place of what the parameters had; `batch_of(part)` gives the
// parts, whole, of which a rank takes what is its own.
StepOutcome compute_gradients(models::Model& model, AdamW& optimiser, models::State& state,
                              const std::function<models::Batch(int64_t part)>& batch_of,
                              const StepOptions& options = {});

// The rest of the step.
void update(AdamW& optimiser, double learning_rate, const StepOutcome& outcome,
            const StepOptions& options = {});

}  // namespace edelta::train
