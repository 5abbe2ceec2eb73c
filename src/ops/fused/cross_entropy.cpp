#include "kernels/cross_entropy.h"

#include "edelta/ops/cross_entropy.h"
#include "ops/fused/autograd.h"
#include "ops/fused/fused.h"
#include "ops/fused/linear_arguments.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

struct Losses {
  Tensor losses;  // of the tokens
  int64_t count;  // of those that count
};

// `gradients`: memory for those of the mean that are wanted.
Losses run_kernel(const LinearInputs& inputs, bool rms, double eps, const Tensor& target,
                  const LinearGradients& gradients) {
  const int64_t in = inputs.weight.size(1);
  const int64_t count = target.ne(kIgnoredTarget).sum().item<int64_t>();
  const Tensor losses = torch::empty(target.sizes(), inputs.x.options().requires_grad(false));
  if (losses.numel() == 0) {
    for (const Tensor& gradient : gradients.list()) {
      if (gradient.defined()) gradient.zero_();
    }
    return {losses, 0};
  }
  kernels::cross_entropy({.tokens = inputs.x.numel() / in,
                          .in = in,
                          .words = inputs.weight.size(0),
                          .x = data(inputs.x),
                          .norm_weight = data(inputs.norm_weight),
                          .norm_bias = data(inputs.norm_bias),
                          .rms = rms,
                          .eps = static_cast<float>(eps),
                          .weight = data(inputs.weight),
                          .bias = data(inputs.bias),
                          .target = target.data_ptr<int64_t>(),
                          .scale = 1 / static_cast<float>(std::max<int64_t>(count, 1)),
                          .loss = data(losses),
                          .dx = data(gradients.dx),
                          .dweight = data(gradients.dweight),
                          .dbias = data(gradients.dbias),
                          .dnorm_weight = data(gradients.dnorm_weight),
                          .dnorm_bias = data(gradients.dnorm_bias)});
  return {losses, count};
}

class CrossEntropyFunction : public Function<CrossEntropyFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& x,
                        const OptionalTensor& norm_weight, const OptionalTensor& norm_bias,
                        bool rms, double eps, const Tensor& weight, const OptionalTensor& bias,
                        const Tensor& target, bool keep) {
    const LinearInputs inputs{x, norm_weight, norm_bias, weight, bias};
    LinearGradients gradients;
    if (keep) {
      save(context, {x, norm_weight, norm_bias, weight, bias}, {target});
      context->saved_data["rms"] = rms;
      context->saved_data["eps"] = eps;
      gradients =
          LinearGradients(context, {x, norm_weight.value_or(Tensor()), norm_bias.value_or(Tensor()),
                                    weight, bias.value_or(Tensor())});
    }
    const Losses found = run_kernel(inputs, rms, eps, target, gradients);
    if (keep) context->saved_data["gradients"] = gradients.list();
    return (found.losses.sum(torch::kFloat64) / std::max<int64_t>(found.count, 1))
        .to(torch::kFloat32);
  }

  static variable_list backward(AutogradContext* context, const variable_list& upstream) {
    refuse_second_derivative();
    // They are given away, so that whoever takes them may add to them in place; a second backward
    // pass over the same graph makes them anew.
    c10::IValue kept = std::exchange(context->saved_data["gradients"], c10::IValue());
    std::vector<Tensor> g = kept.isNone() ? computed_again(context) : kept.toTensorVector();
    kept = c10::IValue();
    const auto factor = upstream[0].item<float>();
    for (Tensor& gradient : g) {
      if (gradient.defined() && factor != 1) gradient.mul_(factor);
    }
    return {g[0], g[1], g[2], {}, {}, g[3], g[4], {}, {}};
  }

 private:
  static std::vector<Tensor> computed_again(AutogradContext* context) {
    const variable_list saved = saved_variables(context);
    const OptionalTensor norm_weight = optional(saved[1]), norm_bias = optional(saved[2]);
    const OptionalTensor bias = optional(saved[4]);
    const LinearGradients gradients(context, saved);
    run_kernel({saved[0], norm_weight, norm_bias, saved[3], bias},
               context->saved_data["rms"].toBool(), context->saved_data["eps"].toDouble(), saved[5],
               gradients);
    return gradients.list();
  }
};

}  // namespace

Tensor cross_entropy(const Tensor& x, const Norm& norm, const Affine& map, const Tensor& target) {
  return CrossEntropyFunction::apply(
      x.contiguous(), optional(norm.weight), optional(norm.bias), norm.rms, norm.eps(),
      map.weight.contiguous(), optional(map.bias), target.contiguous(),
      will_differentiate({x, norm.weight, norm.bias, map.weight, map.bias}));
}

Tensor token_losses(const Tensor& x, const Norm& norm, const Affine& map, const Tensor& target) {
  const OptionalTensor norm_weight = optional(norm.weight), norm_bias = optional(norm.bias);
  const OptionalTensor bias = optional(map.bias);
  return run_kernel({x.contiguous(), norm_weight, norm_bias, map.weight.contiguous(), bias},
                    norm.rms, norm.eps(), target.contiguous(), {})
      .losses;
}

}  // namespace edelta::ops::fused
