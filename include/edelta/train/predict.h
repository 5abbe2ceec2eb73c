// A model's predictions for sequences that nobody knows the answer to.
#pragma once

#include "edelta/torch.h"

#include <cstdint>
#include <functional>

#include "edelta/models/model.h"

namespace edelta::train {

struct PredictOptions {
  int64_t batch = 64;  // sequences at a time
  // Told after every batch how many sequences are done.
  std::function<void(int64_t done)> on_batch = {};
};

// For x [N, T, dim], float32: the predictions, of the same shape. Leaves the model in evaluation
// mode.
torch::Tensor predict(models::Model& model, const torch::Tensor& x,
                      const PredictOptions& options = {});

}  // namespace edelta::train
