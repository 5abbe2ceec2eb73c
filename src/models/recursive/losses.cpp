#include "models/recursive/losses.h"

#include "edelta/ops/puzzle.h"

namespace edelta::models {
namespace {

using torch::Tensor;

Tensor sum_of_cross_entropies(const Tensor& logits, const Tensor& target) {
  return torch::binary_cross_entropy_with_logits(logits, target.to(logits.scalar_type()), {}, {},
                                                 at::Reduction::Sum);
}

}  // namespace

void judge(PuzzleOutput& output, const State& carry) {
  const Tensor& labels = carry.at("labels");
  const Tensor asked = labels != ops::kIgnoredCell;
  const Tensor cells = asked.sum(-1);
  const Tensor divisor = cells.clamp_min(1);
  output.predictions = output.logits.detach().argmax(-1);
  const Tensor right = ((output.predictions == labels) & asked).sum(-1);
  const Tensor solved = right == cells;

  const Tensor losses = ops::stablemax_losses(output.logits, labels);
  output.lm_loss = (losses / divisor.unsqueeze(-1)).sum();
  output.q_halt_loss = sum_of_cross_entropies(output.q_halt, solved);
  output.q_continue_loss = output.target_q_continue.defined()
                               ? sum_of_cross_entropies(output.q_continue, output.target_q_continue)
                               : torch::zeros({}, output.q_halt.options());

  const Tensor counted = carry.at("halted") & (cells > 0);
  const auto sum_where_counted = [&](const Tensor& value) {
    return torch::where(counted, value.to(torch::kFloat64), torch::zeros({}, torch::kFloat64))
        .sum();
  };
  output.metrics = {
      .count = counted.sum(),
      .accuracy = sum_where_counted(right.to(torch::kFloat64) / divisor),
      .exact_accuracy = sum_where_counted(solved),
      .q_halt_accuracy = sum_where_counted((output.q_halt.detach() >= 0) == solved),
      .steps = sum_where_counted(carry.at("steps")),
  };
}

}  // namespace edelta::models
