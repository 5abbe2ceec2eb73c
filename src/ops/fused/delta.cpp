#include "kernels/delta.h"
#include "ops/fused/autograd.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

kernels::DeltaShape delta_shape(const Tensor& k, const Tensor& x) {
  return {x.size(0), x.size(1), k.size(1), x.size(2)};
}

class DeltaFunction : public Function<DeltaFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& k, const Tensor& beta,
                        const Tensor& x) {
    Tensor y = torch::empty_like(x, x.options().requires_grad(false));
    kernels::delta_forward({delta_shape(k, x), data(x), data(k), data(beta), data(y)});
    save(context, {k, beta, x});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dy = gradients[0].contiguous();
    const Tensor dk = gradient_memory(saved, 0);
    const Tensor dbeta = gradient_memory(saved, 1);
    const Tensor dx = gradient_memory(saved, 2);
    kernels::delta_backward({delta_shape(saved[0], saved[2]), data(saved[2]), data(saved[0]),
                             data(saved[1]), data(dy), data(dx), data(dk), data(dbeta)});
    return {dk, dbeta, dx};
  }
};

}  // namespace

Tensor delta(const Tensor& k, const Tensor& beta, const Tensor& x) {
  return DeltaFunction::apply(k.contiguous(), beta.contiguous(), x.contiguous());
}

}  // namespace edelta::ops::fused
