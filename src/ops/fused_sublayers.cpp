#include "edelta/kernels/attention.h"
#include "edelta/kernels/mlp.h"
#include "ops/autograd.h"
#include "ops/fused.h"
#include "ops/linear_arguments.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

// Returns y, and x where that is to be passed on.
class LinearFunction : public Function<LinearFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& x,
                               const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
                               bool rms, const Tensor& weight, const OptionalTensor& bias,
                               const OptionalTensor& residual, bool residual_is_input, bool pass_on,
                               bool keep) {
    const LinearInputs inputs{x, norm_weight, norm_bias, weight, bias};
    const Statistics statistics(keep && norm_weight, x.numel() / weight.size(1), x);
    Tensor y = torch::empty(with_last(x, weight.size(0)), x.options().requires_grad(false));
    kernels::LinearForward arguments = linear_forward_arguments(inputs, rms, statistics, y);
    arguments.residual = residual_is_input ? data(x) : data(residual);
    kernels::linear_forward(arguments);
    if (keep) {
      save_linear(context, inputs, rms, statistics);
      context->saved_data["residual_is_input"] = residual_is_input;
      context->saved_data["has_residual"] = residual.has_value();
    }
    return pass_on ? variable_list{y, x} : variable_list{y};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dy = gradients[0].contiguous();
    const Tensor dresidual = context->saved_data["has_residual"].toBool() ? dy : Tensor();
    Tensor straight;
    if (gradients.size() > 1) straight = gradients[1].contiguous();
    if (context->saved_data["residual_is_input"].toBool()) straight = dy;
    const LinearGradients g(context, saved);
    kernels::LinearBackward arguments = linear_backward_arguments(context, saved, g);
    arguments.dy = data(dy);
    arguments.straight = data(straight);
    kernels::linear_backward(arguments);
    return {g.dx, g.dnorm_weight, g.dnorm_bias, {}, g.dweight, g.dbias, dresidual, {}, {}, {}};
  }
};

class MlpFunction : public Function<MlpFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x,
                        const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
                        const Tensor& fc_weight, const OptionalTensor& fc_bias,
                        const Tensor& proj_weight, const OptionalTensor& proj_bias,
                        const OptionalTensor& residual, bool residual_is_input, bool keep) {
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
                          .residual = residual_is_input ? data(x) : data(residual),
                          .y = data(y),
                          .mean = data(statistics.mean),
                          .rstd = data(statistics.rstd),
                          .pre_activation = data(pre_activation)});
    if (keep) {
      save(context, {x, norm_weight, norm_bias, fc_weight, fc_bias, proj_weight, proj_bias},
           {statistics.mean, statistics.rstd, pre_activation});
      context->saved_data["residual_is_input"] = residual_is_input;
      context->saved_data["has_residual"] = residual.has_value();
    }
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
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
         .straight = context->saved_data["residual_is_input"].toBool() ? data(dy) : nullptr,
         .dx = data(dx),
         .dfc_weight = data(dfc_weight),
         .dfc_bias = data(dfc_bias),
         .dproj_weight = data(dproj_weight),
         .dproj_bias = data(dproj_bias),
         .dnorm_weight = data(dnorm_weight),
         .dnorm_bias = data(dnorm_bias)});
    return {dx,           dnorm_weight, dnorm_bias, dfc_weight, dfc_bias,
            dproj_weight, dproj_bias,   dresidual,  {},         {}};
  }
};

kernels::AttentionShape attention_shape(const Tensor& qkv, int64_t heads) {
  return {qkv.size(0), qkv.size(1), heads, qkv.size(2) / 3 / heads};
}

class AttentionFunction : public Function<AttentionFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& qkv, int64_t heads, bool keep) {
    const auto options = qkv.options().requires_grad(false);
    Tensor out = torch::empty(with_last(qkv, qkv.size(2) / 3), options);
    const Tensor lse = keep ? torch::empty({qkv.size(0), heads, qkv.size(1)}, options) : Tensor();
    kernels::attention_forward({attention_shape(qkv, heads), data(qkv), data(out), data(lse)});
    if (keep) {
      save(context, {qkv}, {out, lse});
      context->saved_data["heads"] = heads;
    }
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dout = gradients[0].contiguous();
    const Tensor dqkv = gradient_memory(saved, 0);
    kernels::attention_backward({attention_shape(saved[0], context->saved_data["heads"].toInt()),
                                 data(saved[0]), data(saved[1]), data(saved[2]), data(dout),
                                 data(dqkv)});
    return {dqkv, {}, {}};
  }
};

}  // namespace

Tensor linear(const Tensor& x, const Norm& norm, const Affine& map, const Tensor& residual) {
  const bool same = residual.defined() && residual.is_same(x);
  return LinearFunction::apply(
      x.contiguous(), optional(norm.weight), optional(norm.bias), norm.rms, map.weight.contiguous(),
      optional(map.bias), same ? OptionalTensor() : optional(residual), same, /*pass_on=*/false,
      will_differentiate({x, norm.weight, norm.bias, map.weight, map.bias, residual}))[0];
}

WithInput linear_with_input(const Tensor& x, const Norm& norm, const Affine& map) {
  const variable_list both = LinearFunction::apply(
      x.contiguous(), optional(norm.weight), optional(norm.bias), norm.rms, map.weight.contiguous(),
      optional(map.bias), OptionalTensor(), false, /*pass_on=*/true,
      will_differentiate({x, norm.weight, norm.bias, map.weight, map.bias}));
  return {both[0], both[1]};
}

Tensor mlp(const Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
           const Tensor& residual) {
  const bool same = residual.defined() && residual.is_same(x);
  return MlpFunction::apply(x.contiguous(), optional(norm.weight), optional(norm.bias),
                            fc.weight.contiguous(), optional(fc.bias), proj.weight.contiguous(),
                            optional(proj.bias), same ? OptionalTensor() : optional(residual), same,
                            will_differentiate({x, norm.weight, norm.bias, fc.weight, fc.bias,
                                                proj.weight, proj.bias, residual}));
}

Tensor causal_attention(const Tensor& qkv, int64_t heads) {
  return AttentionFunction::apply(qkv.contiguous(), heads, will_differentiate({qkv}));
}

}  // namespace edelta::ops::fused
