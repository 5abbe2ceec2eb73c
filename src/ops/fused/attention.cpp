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
  // `cos` and `sin` [T, s], or none: the tables of rotary positions.
  static Tensor forward(AutogradContext* context, const Tensor& qkv, int64_t heads, bool causal,
                        const OptionalTensor& cos, const OptionalTensor& sin,
                        const Dropout& dropout, bool keep) {
    const auto options = qkv.options().requires_grad(false);
    Tensor out = torch::empty(with_last(qkv, qkv.size(2) / 3), options);
    const Tensor lse = keep ? torch::empty({qkv.size(0), heads, qkv.size(1)}, options) : Tensor();
    kernels::attention_forward({.shape = attention_shape(qkv, heads),
                                .qkv = data(qkv),
                                .out = data(out),
                                .lse = data(lse),
                                .dropout = mask_of(dropout, heads),
                                .causal = causal,
                                .rotary = {data(cos), data(sin)}});
    if (keep) {
      save(context, {qkv}, {out, lse, cos.value_or(Tensor()), sin.value_or(Tensor())});
      save_dropout(context, dropout);
      context->saved_data["heads"] = heads;
      context->saved_data["causal"] = causal;
    }
    return out;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dout = gradients[0].contiguous();
    const Tensor dqkv = gradient_memory(saved, 0);
    const int64_t heads = context->saved_data["heads"].toInt();
    kernels::attention_backward({.shape = attention_shape(saved[0], heads),
                                 .qkv = data(saved[0]),
                                 .out = data(saved[1]),
                                 .lse = data(saved[2]),
                                 .dout = data(dout),
                                 .dqkv = data(dqkv),
                                 .dropout = saved_mask(context, heads),
                                 .causal = context->saved_data["causal"].toBool(),
                                 .rotary = {data(saved[3]), data(saved[4])}});
    return {dqkv, {}, {}, {}, {}, {}, {}};
  }
};

}  // namespace

Tensor causal_attention(const Tensor& qkv, int64_t heads, const Dropout& dropout) {
  return AttentionFunction::apply(qkv.contiguous(), heads, /*causal=*/true, OptionalTensor(),
                                  OptionalTensor(), dropout, will_differentiate({qkv}));
}

Tensor whole_attention(const Tensor& qkv, int64_t heads, const RotaryTables& rotary) {
  return AttentionFunction::apply(qkv.contiguous(), heads, /*causal=*/false, optional(rotary.cos),
                                  optional(rotary.sin), Dropout(), will_differentiate({qkv}));
}

}  // namespace edelta::ops::fused
