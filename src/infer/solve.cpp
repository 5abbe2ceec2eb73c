#include "edelta/infer/solve.h"

#include <cmath>

#include "edelta/ops/puzzle.h"

namespace edelta::infer {

std::vector<Belief> solve(models::RecursiveModel& model, const std::vector<int32_t>& puzzle) {
  const torch::NoGradGuard no_grad;
  model.eval();
  const torch::Tensor cells = torch::tensor(puzzle, torch::kInt64).unsqueeze(0);
  const models::PuzzleBatch batch{cells, torch::full_like(cells, ops::kIgnoredCell),
                                  torch::zeros({1}, torch::kInt64)};
  std::vector<Belief> beliefs;
  models::State carry;
  for (int64_t step = 0; step < model.config().halt_max_steps; ++step) {
    const models::PuzzleOutput output = model.step(batch, carry);
    const torch::Tensor answer = output.predictions.flatten().to(torch::kInt32).contiguous();
    beliefs.push_back({{answer.data_ptr<int32_t>(), answer.data_ptr<int32_t>() + answer.numel()},
                       1 / (1 + std::exp(-output.q_halt.item<double>()))});
  }
  return beliefs;
}

}  // namespace edelta::infer
