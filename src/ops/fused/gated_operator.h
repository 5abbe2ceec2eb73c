// An operator on streams from u, v, β, k and γ as an autograd function over its two kernels.
#pragma once

#include "kernels/hybrid.h"
#include "ops/fused/autograd.h"

namespace edelta::ops::fused {

template <void (*kForward)(const kernels::HybridForward&),
          void (*kBackward)(const kernels::HybridBackward&)>
class GatedOperator : public torch::autograd::Function<GatedOperator<kForward, kBackward>> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& u, const Tensor& v,
                        const Tensor& beta, const Tensor& k, const Tensor& gamma) {
    const int64_t n = u.size(-1);
    std::vector<int64_t> sizes = u.sizes().vec();
    sizes.push_back(n);
    Tensor g = torch::empty(sizes, u.options().requires_grad(false));
    kForward({u.numel() / n, n, data(u), data(v), data(beta), data(k), data(gamma), data(g)});
    save(context, {u, v, beta, k, gamma});
    return g;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dg = gradients[0].contiguous();
    const int64_t n = saved[0].size(-1);
    variable_list out;
    for (size_t i = 0; i < saved.size(); ++i) out.push_back(gradient_memory(saved, i));
    kBackward({saved[0].numel() / n, n, data(saved[0]), data(saved[1]), data(saved[2]),
               data(saved[3]), data(saved[4]), data(dg), data(out[0]), data(out[1]), data(out[2]),
               data(out[3]), data(out[4])});
    return out;
  }

  static Tensor matrix(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                       const Tensor& gamma) {
    return GatedOperator::apply(u.contiguous(), v.contiguous(), beta.contiguous(), k.contiguous(),
                                gamma.contiguous());
  }
};

}  // namespace edelta::ops::fused
