#include "kernels/attention.h"
#include "ops/fused/autograd.h"
#include "ops/fused/dropout_arguments.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

kernels::AttentionShape attention_shape(const Tensor& qkv, int64_t heads) {
  return {qkv.size(0), qkv.size(1), heads, qkv.size(2) / 3 / heads};
}

class AttentionFunction : public Function<AttentionFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& qkv, int64_t heads,
                        const Dropout& dropout, bool keep) {
    const auto options = qkv.options().requires_grad(false);
    Tensor out = torch::empty(with_last(qkv, qkv.size(2) / 3), options);
    const Tensor lse = keep ? torch::empty({qkv.size(0), heads, qkv.size(1)}, options) : Tensor();
    kernels::attention_forward(
        {attention_shape(qkv, heads), data(qkv), data(out), data(lse), mask_of(dropout, heads)});
    if (keep) {
      save(context, {qkv}, {out, lse});
      save_dropout(context, dropout);
      context->saved_data["heads"] = heads;
    }
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dout = gradients[0].contiguous();
    const Tensor dqkv = gradient_memory(saved, 0);
    const int64_t heads = context->saved_data["heads"].toInt();
    kernels::attention_backward({attention_shape(saved[0], heads), data(saved[0]), data(saved[1]),
                                 data(saved[2]), data(dout), data(dqkv),
                                 saved_mask(context, heads)});
    return {dqkv, {}, {}, {}};
  }
};

}  // namespace

Tensor causal_attention(const Tensor& qkv, int64_t heads, const Dropout& dropout) {
  return AttentionFunction::apply(qkv.contiguous(), heads, dropout, will_differentiate({qkv}));
}

}  // namespace edelta::ops::fused
