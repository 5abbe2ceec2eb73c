#include "edelta/kernels/delta.h"
#include "edelta/kernels/hybrid.h"
#include "edelta/kernels/pooling.h"
#include "ops/autograd.h"
#include "ops/fused.h"

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
    const Tensor dmean = gradients[0].contiguous();
    const Tensor straight = gradients[1].contiguous();
    const Tensor dx = torch::empty_like(straight);
    kernels::sequence_mean_backward({dmean.size(0), context->saved_data["tokens"].toInt(),
                                     dmean.size(2), data(dmean), data(straight), data(dx)});
    return {dx};
  }
};

class HybridFunction : public Function<HybridFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& u, const Tensor& v,
                        const Tensor& beta, const Tensor& k, const Tensor& gamma) {
    const int64_t n = u.size(-1);
    std::vector<int64_t> sizes = u.sizes().vec();
    sizes.push_back(n);
    Tensor g = torch::empty(sizes, u.options().requires_grad(false));
    kernels::hybrid_forward(
        {u.numel() / n, n, data(u), data(v), data(beta), data(k), data(gamma), data(g)});
    save(context, {u, v, beta, k, gamma});
    return g;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const Tensor dg = gradients[0].contiguous();
    const int64_t n = saved[0].size(-1);
    variable_list out;
    for (size_t i = 0; i < saved.size(); ++i) out.push_back(gradient_memory(saved, i));
    kernels::hybrid_backward({saved[0].numel() / n, n, data(saved[0]), data(saved[1]),
                              data(saved[2]), data(saved[3]), data(saved[4]), data(dg),
                              data(out[0]), data(out[1]), data(out[2]), data(out[3]),
                              data(out[4])});
    return out;
  }
};

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
    const variable_list saved = context->get_saved_variables();
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

WithInput sequence_mean(const Tensor& x) {
  const variable_list both = SequenceMeanFunction::apply(x.contiguous());
  return {both[0], both[1]};
}

Tensor hybrid_matrix(const Tensor& u, const Tensor& v, const Tensor& beta, const Tensor& k,
                     const Tensor& gamma) {
  return HybridFunction::apply(u.contiguous(), v.contiguous(), beta.contiguous(), k.contiguous(),
                               gamma.contiguous());
}

Tensor delta(const Tensor& k, const Tensor& beta, const Tensor& x) {
  return DeltaFunction::apply(k.contiguous(), beta.contiguous(), x.contiguous());
}

}  // namespace edelta::ops::fused
