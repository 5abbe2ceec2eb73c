#include "edelta/train/recursive_optimiser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "edelta/base/error.h"
#include "edelta/ops/adamw.h"

namespace edelta {

template <>
std::span<const EnumName<train::PuzzleAdam>> enum_names() {
  using train::PuzzleAdam;
  static constexpr std::array names{EnumName<PuzzleAdam>{PuzzleAdam::atan2, "adam_atan2"},
                                    EnumName<PuzzleAdam>{PuzzleAdam::adamw, "adamw"}};
  return names;
}

namespace train {

using torch::Tensor;

double learning_rate(const RecursiveProtocol& protocol, double base, int64_t step) {
  const int64_t warmup = protocol.lr_warmup_steps;
  if (step < warmup) {
    return base * static_cast<double>(step) / static_cast<double>(std::max<int64_t>(1, warmup));
  }
  const double progress = static_cast<double>(step - warmup) /
                          static_cast<double>(std::max<int64_t>(1, protocol.total_steps - warmup));
  const double ratio = protocol.lr_min_ratio;
  const double falling = (1 - ratio) * 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return base * (ratio + std::max(0.0, falling));
}

RecursiveOptimiser::RecursiveOptimiser(models::RecursiveModel& model,
                                       const RecursiveProtocol& protocol)
    : protocol_(protocol), puzzle_table_(model.puzzle_table()) {
  for (const auto& item : model.named_parameters()) {
    const Tensor value = item.value();
    weights_.push_back({item.key(), value, torch::zeros_like(value), torch::zeros_like(value),
                        protocol.ema_rate > 0 ? value.detach().clone() : Tensor()});
  }
}

double RecursiveOptimiser::step(const models::PuzzleOutput& output, const Tensor& identifiers) {
  const torch::NoGradGuard no_grad;
  ++steps_;
  if (output.puzzle_rows.defined()) step_puzzles(output.puzzle_rows, identifiers);
  const double norm = step_weights();
  for (Weight& weight : weights_) weight.value.mutable_grad() = Tensor();
  return norm;
}

double RecursiveOptimiser::rate_of(double base) const {
  // What is trained on after the end of the schedule stays there: published, the rate would rise.
  const int64_t end = std::max(protocol_.total_steps, protocol_.lr_warmup_steps);
  return learning_rate(protocol_, base, std::min(steps_, end));
}

double RecursiveOptimiser::step_weights() {
  std::vector<ops::OptimisedTensor> tensors;
  for (const Weight& weight : weights_) {
    // Parameters that nothing depends on are left alone, decay included.
    if (!weight.value.grad().defined()) continue;
    tensors.push_back({weight.value, weight.value.grad(), weight.first_moment, weight.second_moment,
                       protocol_.weight_decay, weight.mean});
  }
  const double norm = std::sqrt(ops::squared_norm(tensors));
  constexpr double kSmall = 1e-6;  // as published
  ops::adamw_step(
      tensors,
      {.t = steps_,
       .learning_rate = rate(),
       .beta1 = protocol_.beta1,
       .beta2 = protocol_.beta2,
       .gradient_scale = protocol_.clip > 0 ? std::min(1.0, protocol_.clip / (norm + kSmall)) : 1,
       .angle = protocol_.optimizer == PuzzleAdam::atan2,
       .mean_rate = protocol_.ema_rate});
  return norm;
}

void RecursiveOptimiser::step_puzzles(const Tensor& rows, const Tensor& identifiers) {
  if (!rows.grad().defined()) return;
  const double lr = rate_of(protocol_.puzzle_emb_lr);
  // Several rows of a batch may be views of one puzzle.
  const auto [puzzles, place, count] = torch::_unique2(identifiers.flatten().to(torch::kInt64),
                                                       /*sorted=*/true, /*return_inverse=*/true);
  const Tensor gradient = torch::zeros({puzzles.size(0), rows.size(1)}, rows.options())
                              .index_add(0, place, rows.grad());
  const Tensor old = puzzle_table_.index_select(0, puzzles);
  puzzle_table_.index_copy_(
      0, puzzles, old * (1 - lr * protocol_.puzzle_emb_weight_decay) - lr * gradient.sign());
}

Tensor RecursiveOptimiser::mean_of(const std::string& parameter) const {
  for (const Weight& weight : weights_) {
    if (weight.name == parameter) return weight.mean;
  }
  return {};
}

void RecursiveOptimiser::swap_means() {
  const torch::NoGradGuard no_grad;
  for (Weight& weight : weights_) {
    if (!weight.mean.defined()) continue;
    const Tensor value = weight.value.clone();
    weight.value.copy_(weight.mean);
    weight.mean.copy_(value);
  }
}

double RecursiveOptimiser::parameter_norm() const {
  double squares = 0;
  for (const Weight& weight : weights_) {
    squares += weight.value.detach().to(torch::kFloat64).square().sum().item<double>();
  }
  return std::sqrt(squares);
}

base::TensorMap RecursiveOptimiser::state() const {
  base::TensorMap state;
  for (const Weight& weight : weights_) {
    state.emplace("first/" + weight.name, weight.first_moment);
    state.emplace("second/" + weight.name, weight.second_moment);
    if (weight.mean.defined()) state.emplace("mean/" + weight.name, weight.mean);
  }
  return state;
}

void RecursiveOptimiser::load_state(const base::TensorMap& state, int64_t steps,
                                    const std::string& source) {
  const torch::NoGradGuard no_grad;
  const base::TensorMap own = this->state();
  if (state.size() != own.size()) {
    throw InputError(fmt::format("{}: {} tensors of the optimiser are there; it has {}", source,
                                 state.size(), own.size()));
  }
  for (const auto& [name, tensor] : own) {
    const auto found = state.find(name);
    if (found == state.end() || found->second.sizes() != tensor.sizes() ||
        found->second.scalar_type() != tensor.scalar_type()) {
      throw InputError(fmt::format("{}: the optimiser's '{}' is not the model's", source, name));
    }
  }
  for (const auto& [name, tensor] : own) Tensor(tensor).copy_(state.at(name));
  steps_ = steps;
}

}  // namespace train
}  // namespace edelta
