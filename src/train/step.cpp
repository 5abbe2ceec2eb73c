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

// This rank's sequences of a batch.
models::Batch rows_of(const models::Batch& whole, const dist::Ranks& ranks) {
  const int64_t rows = whole.input.size(0) / ranks.count(), first = ranks.rank() * rows;
  models::Batch own = whole;
  own.input = whole.input.narrow(0, first, rows);
  own.target = whole.target.narrow(0, first, rows);
  own.first_sequence = whole.first_sequence + first;
  return own;
}

std::vector<double> means_of(const std::vector<Tensor>& gates) {
  std::vector<double> means;
  for (const Tensor& gate : gates) means.push_back(gate.detach().mean().item<double>());
  return means;
}

// The losses of all parts. Each rank writes what it has of every part into a table of zeros, so
// that the sum over the ranks is exact where they have different parts, and parts are then averaged
// in their order, whatever rank they come from.
class PartLosses {
 public:
  PartLosses(int64_t parts, const Division& division) : parts_(parts), division_(division) {}

  void add(const models::Output& output) {
    if (names_.empty()) {
      for (const models::Loss& loss : output.losses) names_.push_back(loss.name);
    }
    for (const models::Loss& loss : output.losses) values_.push_back(loss.value.item<double>());
  }

  void average(StepOutcome& outcome, dist::Ranks& ranks) const {
    const auto columns = static_cast<int64_t>(names_.size());
    const bool has_last = division_.first + division_.count == parts_;
    const bool several = ranks.count() > 1;
    const std::vector<double> gammas = several ? means_of(outcome.gates) : std::vector<double>();
    const double share = division_.rows ? static_cast<double>(ranks.count()) : 1;
    const auto gates = static_cast<int64_t>(gammas.size());
    const Tensor table = torch::zeros({parts_ * columns + gates}, torch::kFloat64);
    auto* memory = table.data_ptr<double>();
    for (size_t i = 0; i < values_.size(); ++i) {
      memory[division_.first * columns + static_cast<int64_t>(i)] = values_[i] / share;
    }
    for (int64_t i = 0; i < gates && has_last; ++i) {
      memory[parts_ * columns + i] = gammas[static_cast<size_t>(i)] / share;
    }
    ranks.sum(table);
    for (int64_t part = 0; part < parts_; ++part) {
      for (int64_t i = 0; i < columns; ++i) {
        outcome.losses[names_[static_cast<size_t>(i)]] +=
            memory[part * columns + i] / static_cast<double>(parts_);
      }
    }
    outcome.rank_gammas.assign(memory + parts_ * columns, memory + parts_ * columns + gates);
  }

 private:
  int64_t parts_;
  Division division_;
  std::vector<std::string> names_;
  std::vector<double> values_;  // [this rank's parts, names]
};

}  // namespace

std::vector<double> StepOutcome::gammas() const {
  return rank_gammas.empty() ? means_of(gates) : rank_gammas;
}

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
  GradientExchange* exchange = options.exchange;
  dist::Ranks& ranks = exchange ? exchange->ranks() : dist::alone();
  const Division own =
      exchange ? exchange->division(options.parts) : Division{.first = 0, .count = options.parts};
  // The mean over all parts, and over the ranks' equal shares of each.
  const double shares = static_cast<double>(options.parts * (own.rows ? ranks.count() : 1));
  if (exchange) exchange->start();
  PartLosses losses(options.parts, own);
  StepOutcome outcome;
  for (int64_t part = 0; part < own.count; ++part) {
    if (part > 0 && options.gives_up && options.gives_up()) {
      outcome.given_up = true;
      return outcome;
    }
    models::Batch batch = batch_of(own.first + part);
    if (own.rows) batch = rows_of(batch, ranks);
    batch.wants_prediction = false;
    const models::Output output = model.forward(batch, state);
    const Tensor minimised = objective(output, options) / shares;
    ended(StepPhase::forward, options);
    if (exchange) exchange->before_backward(/*last=*/part + 1 == own.count);
    minimised.backward();
    if (exchange) exchange->after_backward();
    ended(StepPhase::backward, options);
    losses.add(output);
    outcome.gates = output.seen.gates;
  }
  if (exchange) exchange->finish();
  losses.average(outcome, ranks);
  outcome.gradient_norm = optimiser.gradient_norm();
  return outcome;
}

void update(AdamW& optimiser, double learning_rate, const StepOutcome& outcome,
            const StepOptions& options) {
  optimiser.step(learning_rate, outcome.gradient_norm);
  ended(StepPhase::update, options);
}

}  // namespace edelta::train
