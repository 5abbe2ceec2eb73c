#include "kernels/adamw.h"

#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

// What the kernels sweep over.
struct Segments {
  explicit Segments(const std::vector<OptimisedTensor>& tensors) {
    for (const OptimisedTensor& tensor : tensors) {
      if (!tensor.gradient.defined()) continue;
      gradients.push_back(tensor.gradient.contiguous());
      list.push_back({.parameter = tensor.value.data_ptr<float>(),
                      .gradient = gradients.back().data_ptr<float>(),
                      .first_moment = tensor.first.data_ptr<float>(),
                      .second_moment = tensor.second.data_ptr<float>(),
                      .count = tensor.value.numel(),
                      .weight_decay = static_cast<float>(tensor.weight_decay),
                      .mean = tensor.mean.defined() ? tensor.mean.data_ptr<float>() : nullptr});
    }
  }
  int64_t count() const { return static_cast<int64_t>(list.size()); }

  std::vector<kernels::ParameterSegment> list;
  std::vector<torch::Tensor> gradients;  // keeps the memory behind the list alive
};

}  // namespace

void adamw_step(const std::vector<OptimisedTensor>& tensors, const AdamWStep& step) {
  const Segments segments(tensors);
  kernels::adamw_step({.segments = segments.list.data(),
                       .segment_count = segments.count(),
                       .learning_rate = step.learning_rate,
                       .beta1 = step.beta1,
                       .beta2 = step.beta2,
                       .eps = step.eps,
                       .bias_correction1 = step.bias_correction1(),
                       .bias_correction2 = step.bias_correction2(),
                       .gradient_scale = step.gradient_scale,
                       .angle = step.angle,
                       .mean_rate = step.mean_rate});
}

double squared_norm(const std::vector<OptimisedTensor>& tensors) {
  const Segments segments(tensors);
  double total = 0;
  kernels::squared_norm(
      {.segments = segments.list.data(), .segment_count = segments.count(), .total = &total});
  return total;
}

}  // namespace edelta::ops::fused
