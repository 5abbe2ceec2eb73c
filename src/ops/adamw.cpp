#include "edelta/ops/adamw.h"

#include <algorithm>
#include <cmath>

#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

bool use_kernels(const std::vector<OptimisedTensor>& tensors) {
  return use_fused({}) &&
         std::all_of(tensors.begin(), tensors.end(), [](const OptimisedTensor& tensor) {
           return use_fused({tensor.value, tensor.gradient}) && tensor.value.is_contiguous();
         });
}

}  // namespace

double AdamWStep::bias_correction1() const { return 1 - std::pow(beta1, static_cast<double>(t)); }
double AdamWStep::bias_correction2() const { return 1 - std::pow(beta2, static_cast<double>(t)); }

void adamw_step(const std::vector<OptimisedTensor>& tensors, const AdamWStep& step) {
  const torch::NoGradGuard no_grad;
  if (use_kernels(tensors)) return fused::adamw_step(tensors, step);
  for (OptimisedTensor tensor : tensors) {
    if (!tensor.gradient.defined()) continue;
    const Tensor gradient = step.gradient_scale * tensor.gradient;
    tensor.value.mul_(1 - step.learning_rate * tensor.weight_decay);
    tensor.first.mul_(step.beta1).add_(gradient, 1 - step.beta1);
    tensor.second.mul_(step.beta2).addcmul_(gradient, gradient, 1 - step.beta2);
    const Tensor deviation = tensor.second.sqrt() / std::sqrt(step.bias_correction2());
    const double rate = step.learning_rate / step.bias_correction1();
    if (step.angle) {
      tensor.value.sub_(torch::atan2(tensor.first, deviation), rate);
    } else {
      tensor.value.addcdiv_(tensor.first, deviation + step.eps, -rate);
    }
    if (tensor.mean.defined()) tensor.mean.lerp_(tensor.value, 1 - step.mean_rate);
  }
}

double squared_norm(const std::vector<OptimisedTensor>& tensors) {
  const torch::NoGradGuard no_grad;
  if (use_kernels(tensors)) return fused::squared_norm(tensors);
  double total = 0;
  for (const OptimisedTensor& tensor : tensors) {
    if (!tensor.gradient.defined()) continue;
    total += tensor.gradient.to(torch::kFloat64).square().sum().item<double>();
  }
  return total;
}

}  // namespace edelta::ops
