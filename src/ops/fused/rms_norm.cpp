#include "kernels/rms_norm.h"
#include "ops/fused/autograd.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

class RmsNormFunction : public Function<RmsNormFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, double eps, bool keep) {
    const int64_t width = x.size(-1);
    const int64_t tokens = x.numel() / width;
    const auto options = x.options().requires_grad(false);
    Tensor y = torch::empty(x.sizes(), options);
    const Tensor rstd = keep ? torch::empty({tokens}, options) : Tensor();
    kernels::rms_norm_forward({.tokens = tokens,
                               .width = width,
                               .eps = static_cast<float>(eps),
                               .x = data(x),
                               .y = data(y),
                               .rstd = data(rstd)});
    if (keep) context->save_for_backward({y, rstd});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dy = gradients[0].contiguous();
    const int64_t width = dy.size(-1);
    const Tensor dx = torch::empty_like(dy);
    kernels::rms_norm_backward({.tokens = dy.numel() / width,
                                .width = width,
                                .y = data(saved[0]),
                                .rstd = data(saved[1]),
                                .dy = data(dy),
                                .dx = data(dx)});
    return {dx, {}, {}};
  }
};

}  // namespace

Tensor rms_normalise(const Tensor& x, double eps) {
  return RmsNormFunction::apply(x.contiguous(), eps, will_differentiate({x}));
}

}  // namespace edelta::ops::fused
