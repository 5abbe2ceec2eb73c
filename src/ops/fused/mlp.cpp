#include "kernels/mlp.h"
#include "ops/fused/autograd.h"
#include "ops/fused/dropout_arguments.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

class MlpFunction : public Function<MlpFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x,
                        const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
                        const Tensor& fc_weight, const OptionalTensor& fc_bias,
                        const Tensor& proj_weight, const OptionalTensor& proj_bias,
                        const OptionalTensor& residual, bool residual_is_input,
                        const Dropout& dropout, bool keep) {
    const int64_t in = fc_weight.size(1);
    const int64_t hidden = fc_weight.size(0);
    const int64_t out = proj_weight.size(0);
    const int64_t tokens = x.numel() / in;
    const auto options = x.options().requires_grad(false);
    const Statistics statistics(keep && norm_weight, tokens, x);
    const Tensor pre_activation = keep ? torch::empty({tokens, hidden}, options) : Tensor();
    Tensor y = torch::empty(with_last(x, out), options);
    kernels::mlp_forward({.tokens = tokens,
                          .in = in,
                          .hidden = hidden,
                          .out = out,
                          .x = data(x),
                          .norm_weight = data(norm_weight),
                          .norm_bias = data(norm_bias),
                          .eps = static_cast<float>(kLayerNormEps),
                          .fc_weight = data(fc_weight),
                          .fc_bias = data(fc_bias),
                          .proj_weight = data(proj_weight),
                          .proj_bias = data(proj_bias),
                          .dropout = mask_of(dropout),
                          .residual = residual_is_input ? data(x) : data(residual),
                          .y = data(y),
                          .mean = data(statistics.mean),
                          .rstd = data(statistics.rstd),
                          .pre_activation = data(pre_activation)});
    if (keep) {
      save(context, {x, norm_weight, norm_bias, fc_weight, fc_bias, proj_weight, proj_bias},
           {statistics.mean, statistics.rstd, pre_activation});
      save_dropout(context, dropout);
      context->saved_data["residual_is_input"] = residual_is_input;
      context->saved_data["has_residual"] = residual.has_value();
    }
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dy = gradients[0].contiguous();
    const Tensor dresidual = context->saved_data["has_residual"].toBool() ? dy : Tensor();
    const int64_t in = saved[3].size(1);
    const Tensor dx = gradient_of(context, saved, 0);
    const Tensor dnorm_weight = gradient_of(context, saved, 1);
    const Tensor dnorm_bias = gradient_of(context, saved, 2);
    const Tensor dfc_weight = gradient_of(context, saved, 3);
    const Tensor dfc_bias = gradient_of(context, saved, 4);
    const Tensor dproj_weight = gradient_of(context, saved, 5);
    const Tensor dproj_bias = gradient_of(context, saved, 6);
    kernels::mlp_backward(
        {.tokens = saved[0].numel() / in,
         .in = in,
         .hidden = saved[3].size(0),
         .out = saved[5].size(0),
         .dy = data(dy),
         .x = data(saved[0]),
         .norm_weight = data(saved[1]),
         .norm_bias = data(saved[2]),
         .mean = data(saved[7]),
         .rstd = data(saved[8]),
         .pre_activation = data(saved[9]),
         .fc_weight = data(saved[3]),
         .proj_weight = data(saved[5]),
         .dropout = saved_mask(context),
         .straight = context->saved_data["residual_is_input"].toBool() ? data(dy) : nullptr,
         .dx = data(dx),
         .dfc_weight = data(dfc_weight),
         .dfc_bias = data(dfc_bias),
         .dproj_weight = data(dproj_weight),
         .dproj_bias = data(dproj_bias),
         .dnorm_weight = data(dnorm_weight),
         .dnorm_bias = data(dnorm_bias)});
    return {dx,         dnorm_weight, dnorm_bias, dfc_weight, dfc_bias, dproj_weight,
            dproj_bias, dresidual,    {},         {},         {}};
  }
};

}  // namespace

Tensor mlp(const Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
           const Tensor& residual, const Dropout& dropout) {
  const bool same = residual.defined() && residual.is_same(x);
  return MlpFunction::apply(x.contiguous(), optional(norm.weight), optional(norm.bias),
                            fc.weight.contiguous(), optional(fc.bias), proj.weight.contiguous(),
                            optional(proj.bias), same ? OptionalTensor() : optional(residual), same,
                            dropout,
                            will_differentiate({x, norm.weight, norm.bias, fc.weight, fc.bias,
                                                proj.weight, proj.bias, residual}));
}

}  // namespace edelta::ops::fused
