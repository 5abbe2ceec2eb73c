#include "kernels/token_hybrid.h"
#include "ops/fused/autograd.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

kernels::TokenHybridShape token_hybrid_shape(const Tensor& x, int64_t streams) {
  return {x.numel() / x.size(-1), streams, x.size(-1) / streams};
}

// Returns y and γ.
class TokenHybridFunction : public Function<TokenHybridFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x, const Tensor& parameters,
                               int64_t streams, bool keep) {
    const auto options = x.options().requires_grad(false);
    Tensor y = torch::empty(x.sizes(), options);
    Tensor gamma = torch::empty(with_last(x, 1), options);
    kernels::token_hybrid_forward({.shape = token_hybrid_shape(x, streams),
                                   .x = data(x),
                                   .parameters = data(parameters),
                                   .y = data(y),
                                   .gamma = data(gamma)});
    if (keep) {
      save(context, {x, parameters});
      context->saved_data["streams"] = streams;
      context->set_materialize_grads(false);
    }
    return {y, gamma};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor& x = saved[0];
    const Tensor dy = gradients[0].defined() ? gradients[0].contiguous() : torch::zeros_like(x);
    const Tensor dgamma = gradients[1].defined() ? gradients[1].contiguous() : Tensor();
    const Tensor dx = gradient_memory(saved, 0);
    const Tensor dparameters = gradient_memory(saved, 1);
    kernels::token_hybrid_backward(
        {.shape = token_hybrid_shape(x, context->saved_data["streams"].toInt()),
         .x = data(x),
         .parameters = data(saved[1]),
         .dy = data(dy),
         .dgamma = data(dgamma),
         .dx = data(dx),
         .dparameters = data(dparameters)});
    return {dx, dparameters, {}, {}};
  }
};

}  // namespace

TokenHybrid token_hybrid(const Tensor& x, const Tensor& parameters, int64_t streams) {
  const variable_list both = TokenHybridFunction::apply(
      x.contiguous(), parameters.contiguous(), streams, will_differentiate({x, parameters}));
  return {both[0], both[1]};
}

}  // namespace edelta::ops::fused
