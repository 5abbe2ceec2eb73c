#include "edelta/train/step.h"

namespace edelta::train {
namespace {

using torch::Tensor;

Tensor objective(const models::Output& output, const StepOptions& options) {
  Tensor sum;
  for (const models::Loss& loss : output.losses) {
    if (options.minimises && !options.minimises(loss.name)) continue;
    sum = sum.defined() ? sum + loss.value : loss.value;
  }
  return sum;
}

void ended(StepPhase phase, const StepOptions& options) {
  if (options.after) options.after(phase);
}

}  // namespace

double StepOutcome::loss(const std::string& name) const {
  const auto found = losses.find(name);
  return found == losses.end() ? 0 : found->second;
}

double StepOutcome::total() const {
  double sum = 0;
  for (const auto& [name, value] : losses) sum += value;
  return sum;
}

StepOutcome compute_gradients(models::Model& model, AdamW& optimiser, models::State& state,
                              const std::function<models::Batch(int64_t part)>& batch_of,
                              const StepOptions& options) {
  model.train();
  optimiser.zero_gradients();
  const auto parts = static_cast<double>(options.parts);
  StepOutcome outcome;
  for (int64_t part = 0; part < options.parts; ++part) {
    if (part > 0 && options.gives_up && options.gives_up()) {
      outcome.given_up = true;
      return outcome;
    }
    models::Batch batch = batch_of(part);
    batch.wants_prediction = false;
    const models::Output output = model.forward(batch, state);
    const Tensor minimised = objective(output, options) / parts;
    ended(StepPhase::forward, options);
    minimised.backward();
    ended(StepPhase::backward, options);
    for (const models::Loss& loss : output.losses) {
      outcome.losses[loss.name] += loss.value.item<double>() / parts;
    }
    outcome.gates = output.seen.gates;
  }
  outcome.gradient_norm = optimiser.gradient_norm();
  return outcome;
}

void update(AdamW& optimiser, double learning_rate, const StepOutcome& outcome,
            const StepOptions& options) {
  optimiser.step(learning_rate, outcome.gradient_norm);
  ended(StepPhase::update, options);
}

}  // namespace edelta::train
