#include "edelta/train/puzzle_evaluation.h"

#include <algorithm>

#include "edelta/ops/puzzle.h"
#include "train/puzzle_batches.h"

namespace edelta::train {
namespace {

using torch::Tensor;

double sum_of(const Tensor& values) { return values.to(torch::kFloat64).sum().item<double>(); }

constexpr int64_t kSums = 4;  // of a PuzzleScore

// The sums over the batch's puzzles that have an answer, as PuzzleScore has their means.
void write_sums(const models::PuzzleOutput& output, const models::PuzzleBatch& batch,
                double* sums) {
  const Tensor asked = batch.labels != ops::kIgnoredCell;
  const Tensor cells = asked.sum(-1);
  const Tensor counted = cells > 0;
  const Tensor right = ((output.predictions == batch.labels) & asked).sum(-1);
  const Tensor solved = (right == cells) & counted;
  sums[0] = output.lm_loss.item<double>();
  sums[1] = sum_of(right.to(torch::kFloat64) / cells.clamp_min(1));
  sums[2] = sum_of(solved);
  sums[3] = sum_of(((output.q_halt >= 0) == solved) & counted);
}

}  // namespace

PuzzleEvaluation evaluate_puzzles(models::RecursiveModel& model, const data::PuzzleSplit& split,
                                  const PuzzleEvaluationOptions& options, dist::Ranks& ranks) {
  const torch::NoGradGuard no_grad;
  model.eval();
  const std::vector<PuzzlePlace> places = first_examples(split, options.most);
  const auto all = static_cast<int64_t>(places.size());
  const int64_t batches = (all + options.batch - 1) / options.batch;
  const int64_t steps = model.config().halt_max_steps;
  // Of every batch, and how many puzzles it has; zeros where another rank computes them.
  const Tensor table = torch::zeros({batches, steps * kSums + 1}, torch::kFloat64);
  const auto row = [&](int64_t i) { return table.data_ptr<double>() + i * table.size(1); };
  for (int64_t i = ranks.rank(); i < batches; i += ranks.count()) {
    const int64_t begin = i * options.batch, end = std::min(all, begin + options.batch);
    const models::PuzzleBatch batch =
        puzzle_batch({places.begin() + begin, places.begin() + end}, split.info.seq_len);
    row(i)[steps * kSums] =
        static_cast<double>((batch.labels != ops::kIgnoredCell).any(-1).sum().item<int64_t>());
    models::State carry;
    models::PuzzleOutput output;
    for (int64_t step = 0; step < steps; ++step) {
      output = model.step(batch, carry);
      write_sums(output, batch, row(i) + step * kSums);
    }
    if (options.on_answers) options.on_answers(batch, output);
    if (options.on_batch) options.on_batch(end, all);
  }
  ranks.sum(table);
  std::vector<double> sums(static_cast<size_t>(table.size(1)), 0.0);
  for (int64_t i = 0; i < batches; ++i) {
    for (size_t column = 0; column < sums.size(); ++column) sums[column] += row(i)[column];
  }
  PuzzleEvaluation evaluation{.puzzles = static_cast<int64_t>(sums.back()), .after = {}};
  const double count = std::max(1.0, sums.back());
  for (int64_t step = 0; step < steps; ++step) {
    const double* of_step = sums.data() + step * kSums;
    evaluation.after.push_back({.loss = of_step[0] / count,
                                .accuracy = of_step[1] / count,
                                .exact_accuracy = of_step[2] / count,
                                .q_halt_accuracy = of_step[3] / count});
  }
  return evaluation;
}

}  // namespace edelta::train
