#include "edelta/train/evaluate.h"

namespace edelta::train {

using torch::Tensor;

Evaluation evaluate(models::Model& model, const Tensor& x, const Tensor& y,
                    const std::vector<data::Stratum>& strata, int64_t batch) {
  const torch::NoGradGuard no_grad;
  model.eval();
  std::vector<Tensor> losses;  // of each sequence
  for (int64_t begin = 0; begin < x.size(0); begin += batch) {
    const int64_t count = std::min(batch, x.size(0) - begin);
    const Tensor error = model.predict(x.narrow(0, begin, count)) - y.narrow(0, begin, count);
    losses.push_back(error.to(torch::kFloat64).square().mean({1, 2}));
  }
  const Tensor all = torch::cat(losses);
  Evaluation evaluation{all.mean().item<double>(), {}};
  for (const data::Stratum& stratum : strata) {
    const Tensor rows = torch::tensor(stratum.rows, torch::kInt64);
    evaluation.strata[stratum.name] = all.index_select(0, rows).mean().item<double>();
  }
  return evaluation;
}

}  // namespace edelta::train
