#include "edelta/train/recursive_optimiser.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

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
  const double norm = clip_gradients();
  if (output.puzzle_rows.defined()) {
    step_puzzles(output.puzzle_rows, identifiers,
                 learning_rate(protocol_, protocol_.puzzle_emb_lr, steps_));
  }
  step_weights(learning_rate(protocol_, protocol_.lr, steps_));
  for (Weight& weight : weights_) {
    weight.value.mutable_grad() = Tensor();
    if (weight.mean.defined()) weight.mean.lerp_(weight.value, 1 - protocol_.ema_rate);
  }
  return norm;
}

double RecursiveOptimiser::clip_gradients() {
  double squares = 0;
  for (const Weight& weight : weights_) {
    if (!weight.value.grad().defined()) continue;
    const auto norm = weight.value.grad().norm().item<double>();
    squares += norm * norm;
  }
  const double norm = std::sqrt(squares);
  constexpr double kSmall = 1e-6;  // as published
  const double factor = protocol_.clip > 0 ? std::min(1.0, protocol_.clip / (norm + kSmall)) : 1;
  if (factor < 1) {
    for (const Weight& weight : weights_) {
      if (weight.value.grad().defined()) weight.value.mutable_grad().mul_(factor);
    }
  }
  return norm;
}

void RecursiveOptimiser::step_weights(double lr) {
  constexpr double kAdamEps = 1e-8;
  const double first = 1 - std::pow(protocol_.beta1, static_cast<double>(steps_));
  const double second = 1 - std::pow(protocol_.beta2, static_cast<double>(steps_));
  for (Weight& weight : weights_) {
    const Tensor& gradient = weight.value.grad();
    // Parameters that nothing depends on are left alone, decay included.
    if (!gradient.defined()) continue;
    weight.value.mul_(1 - lr * protocol_.weight_decay);
    weight.first_moment.lerp_(gradient, 1 - protocol_.beta1);
    weight.second_moment.lerp_(gradient.square(), 1 - protocol_.beta2);
    const Tensor deviation = weight.second_moment.sqrt() / std::sqrt(second);
    // By the angle nothing has to be added to the deviation, and no scale of the gradient matters.
    const Tensor direction = protocol_.optimizer == PuzzleAdam::atan2
                                 ? torch::atan2(weight.first_moment, deviation)
                                 : weight.first_moment / (deviation + kAdamEps);
    weight.value.sub_(direction, lr / first);
  }
}

void RecursiveOptimiser::step_puzzles(const Tensor& rows, const Tensor& identifiers, double lr) {
  if (!rows.grad().defined()) return;
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

}  // namespace train
}  // namespace edelta
