#include "kernels/pooling.h"
#include "ops/fused/autograd.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

// Returns the mean [B, 1, D], and x passed on.
class SequenceMeanFunction : public Function<SequenceMeanFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x) {
    Tensor mean = torch::empty({x.size(0), 1, x.size(2)}, x.options().requires_grad(false));
    kernels::sequence_mean_forward({x.size(0), x.size(1), x.size(2), data(x), data(mean)});
    context->saved_data["tokens"] = x.size(1);
    return {mean, x};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative();
    const Tensor dmean = gradients[0].contiguous();
    const Tensor straight = gradients[1].contiguous();
    const Tensor dx = torch::empty_like(straight);
    kernels::sequence_mean_backward({dmean.size(0), context->saved_data["tokens"].toInt(),
                                     dmean.size(2), data(dmean), data(straight), data(dx)});
    return {dx};
  }
};

class PrefixMeanFunction : public Function<PrefixMeanFunction> {
 public:
  static Tensor forward(AutogradContext*, const Tensor& x) {
    Tensor mean = torch::empty_like(x, x.options().requires_grad(false));
    kernels::prefix_mean_forward({x.size(0), x.size(1), x.size(2), data(x), data(mean)});
    return mean;
  }

  static variable_list backward(AutogradContext*, const variable_list& gradients) {
    refuse_second_derivative();
    const Tensor dmean = gradients[0].contiguous();
    const Tensor dx = torch::empty_like(dmean);
    kernels::prefix_mean_backward(
        {dmean.size(0), dmean.size(1), dmean.size(2), data(dmean), data(dx)});
    return {dx};
  }
};

}  // namespace

Tensor prefix_mean(const Tensor& x) { return PrefixMeanFunction::apply(x.contiguous()); }

WithInput sequence_mean(const Tensor& x) {
  const variable_list both = SequenceMeanFunction::apply(x.contiguous());
  return {both[0], both[1]};
}

}  // namespace edelta::ops::fused
