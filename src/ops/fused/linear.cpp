#include "ops/fused/autograd.h"
#include "ops/fused/dropout_arguments.h"
#include "ops/fused/fused.h"
#include "ops/fused/linear_arguments.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

// Returns y, and x where that is to be passed on.
class LinearFunction : public Function<LinearFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x,
                               const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
                               bool rms, double eps, const Tensor& weight,
                               const OptionalTensor& bias, const OptionalTensor& residual,
                               bool residual_is_input, const Dropout& dropout, bool pass_on,
                               bool keep) {
    const LinearInputs inputs{x, norm_weight, norm_bias, weight, bias};
    const Statistics statistics(keep && norm_weight, x.numel() / weight.size(1), x);
    Tensor y = torch::empty(with_last(x, weight.size(0)), x.options().requires_grad(false));
    kernels::LinearForward arguments = linear_forward_arguments(inputs, rms, eps, statistics, y);
    arguments.residual = residual_is_input ? data(x) : data(residual);
    arguments.dropout = mask_of(dropout);
    kernels::linear_forward(arguments);
    if (keep) {
      save_linear(context, inputs, rms, statistics);
      save_dropout(context, dropout);
      context->saved_data["residual_is_input"] = residual_is_input;
      context->saved_data["has_residual"] = residual.has_value();
    }
    return pass_on ? variable_list{y, x} : variable_list{y};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dy = gradients[0].contiguous();
    const Tensor dresidual = context->saved_data["has_residual"].toBool() ? dy : Tensor();
    Tensor straight;
    if (gradients.size() > 1) straight = gradients[1].contiguous();
    if (context->saved_data["residual_is_input"].toBool()) straight = dy;
    const LinearGradients g(context, saved);
    kernels::LinearBackward arguments = linear_backward_arguments(context, saved, g);
    arguments.dy = data(dy);
    arguments.straight = data(straight);
    arguments.dropout = saved_mask(context);
    kernels::linear_backward(arguments);
    return {g.dx,    g.dnorm_weight, g.dnorm_bias, {}, {}, g.dweight,
            g.dbias, dresidual,      {},           {}, {}, {}};
  }
};

}  // namespace

Tensor linear(const Tensor& x, const Norm& norm, const Affine& map, const Tensor& residual,
              const Dropout& dropout) {
  const bool same = residual.defined() && residual.is_same(x);
  return LinearFunction::apply(
      x.contiguous(), optional(norm.weight), optional(norm.bias), norm.rms, norm.eps(),
      map.weight.contiguous(), optional(map.bias), same ? OptionalTensor() : optional(residual),
      same, dropout,
      /*pass_on=*/false,
      will_differentiate({x, norm.weight, norm.bias, map.weight, map.bias, residual}))[0];
}

WithInput linear_with_input(const Tensor& x, const Norm& norm, const Affine& map) {
  const variable_list both = LinearFunction::apply(
      x.contiguous(), optional(norm.weight), optional(norm.bias), norm.rms, norm.eps(),
      map.weight.contiguous(), optional(map.bias), OptionalTensor(), false, Dropout(),
      /*pass_on=*/true, will_differentiate({x, norm.weight, norm.bias, map.weight, map.bias}));
  return {both[0], both[1]};
}

}  // namespace edelta::ops::fused
