#include "edelta/train/predict.h"

#include <algorithm>

namespace edelta::train {

torch::Tensor predict(models::Model& model, const torch::Tensor& x, const PredictOptions& options) {
  const torch::NoGradGuard no_grad;
  model.eval();
  torch::Tensor predictions = torch::empty_like(x);
  for (int64_t begin = 0; begin < x.size(0); begin += options.batch) {
    const int64_t count = std::min(options.batch, x.size(0) - begin);
    predictions.narrow(0, begin, count).copy_(model.predict(x.narrow(0, begin, count)));
    if (options.on_batch) options.on_batch(begin + count);
  }
  return predictions;
}

}  // namespace edelta::train
