#include "edelta/train/evaluate.h"

namespace edelta::train {
namespace {

using torch::Tensor;

// Of the loss of each sequence [N] and of each of its positions [N, T].
double stratum_loss(const data::Stratum& stratum, const Tensor& sequences,
                    const Tensor& positions) {
  const Tensor rows = torch::tensor(stratum.rows, torch::kInt64);
  if (stratum.positions.empty()) return sequences.index_select(0, rows).mean().item<double>();
  const auto at = positions.accessor<double, 2>();
  double sum = 0;
  int64_t count = 0;
  for (size_t i = 0; i < stratum.rows.size(); ++i) {
    const auto [begin, end] = stratum.positions[i];
    for (int64_t t = begin; t < end; ++t) sum += at[stratum.rows[i]][t];
    count += end - begin;
  }
  return sum / static_cast<double>(count);
}

}  // namespace

Evaluation evaluate(models::Model& model, const Tensor& x, const Tensor& y,
                    const std::vector<data::Stratum>& strata, int64_t batch, dist::Ranks& ranks) {
  const torch::NoGradGuard no_grad;
  model.eval();
  // A rank leaves zeros for the others, so that their sum is exact.
  const Tensor of_sequences = torch::zeros({x.size(0)}, torch::kFloat64);
  const Tensor of_positions = torch::zeros({x.size(0), x.size(1)}, torch::kFloat64);
  for (int64_t begin = ranks.rank() * batch; begin < x.size(0); begin += ranks.count() * batch) {
    const int64_t count = std::min(batch, x.size(0) - begin);
    const Tensor error = model.predict(x.narrow(0, begin, count)) - y.narrow(0, begin, count);
    const Tensor squares = error.to(torch::kFloat64).square();
    of_sequences.narrow(0, begin, count).copy_(squares.mean({1, 2}));
    of_positions.narrow(0, begin, count).copy_(squares.mean(2));
  }
  ranks.sum(of_sequences);
  if (!strata.empty()) ranks.sum(of_positions);
  Evaluation evaluation{.loss = of_sequences.mean().item<double>()};
  for (const data::Stratum& stratum : strata) {
    evaluation.strata[stratum.name] = stratum_loss(stratum, of_sequences, of_positions);
  }
  return evaluation;
}

}  // namespace edelta::train
