#include "kernels/dropout.h"
#include "ops/fused/autograd.h"
#include "ops/fused/dropout_arguments.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

Tensor dropped(const Tensor& x, const kernels::DropoutMask& mask) {
  Tensor y = torch::empty_like(x);
  const int64_t width = x.size(-1);
  kernels::drop_rows({x.numel() / width, width, mask, data(x), data(y)});
  return y;
}

class DropFunction : public Function<DropFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x, const Dropout& dropout) {
    save_dropout(context, dropout);
    return dropped(x, mask_of(dropout));
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    refuse_second_derivative();
    return {dropped(gradients[0].contiguous(), saved_mask(context)), {}};
  }
};

}  // namespace

Tensor drop(const Tensor& x, const Dropout& dropout) {
  return DropFunction::apply(x.contiguous(), dropout);
}

}  // namespace edelta::ops::fused
