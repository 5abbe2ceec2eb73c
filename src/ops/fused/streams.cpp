#include "kernels/stream.h"
#include "ops/fused/autograd.h"
#include "ops/fused/fused.h"

namespace edelta::ops::fused {
namespace {

using torch::autograd::Function;

kernels::StreamMixShape mix_shape(const Tensor& g, const Tensor& x) {
  const int64_t n = g.size(-1);
  return {x.size(0), x.size(1), g.size(1), n, x.size(2) / n};
}

// The gradient goes to `g_backward`: where it is another operator than `g_forward`, the latter gets
// none (straight-through).
class StreamMixFunction : public Function<StreamMixFunction> {
 public:
  static Tensor forward(AutogradContext* context, const Tensor& g_forward, const Tensor& g_backward,
                        const Tensor& x) {
    Tensor y = torch::empty_like(x, x.options().requires_grad(false));
    kernels::stream_mix_forward({mix_shape(g_forward, x), data(x), data(g_forward), data(y)});
    save(context, {g_backward, x});
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dy = gradients[0].contiguous();
    const Tensor dg = gradient_memory(saved, 0);
    const Tensor dx = gradient_memory(saved, 1);
    kernels::stream_mix_backward({mix_shape(saved[0], saved[1]), data(saved[1]), data(saved[0]),
                                  data(dy), data(dx), data(dg)});
    return {Tensor(), dg, dx};
  }
};

kernels::StreamShape stream_shape(const Tensor& w, const Tensor& x) {
  const int64_t n = w.size(-1);
  return {w.numel() / n, n, x.size(-1) / n};
}

// Returns the aggregate, and x passed on.
class StreamAggregateFunction : public Function<StreamAggregateFunction> {
 public:
  static variable_list forward(AutogradContext* context, const Tensor& w, const Tensor& x) {
    const kernels::StreamShape shape = stream_shape(w, x);
    Tensor a = torch::empty(with_last(x, shape.width), x.options().requires_grad(false));
    kernels::stream_aggregate_forward({shape, data(x), data(w), data(a)});
    save(context, {w, x});
    return {a, x};
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor da = gradients[0].contiguous();
    const Tensor straight = gradients[1].contiguous();
    const Tensor dw = gradient_memory(saved, 0);
    const Tensor dx = gradient_memory(saved, 1);
    kernels::stream_aggregate_backward({stream_shape(saved[0], saved[1]), data(saved[1]),
                                        data(saved[0]), data(da), data(straight), data(dx),
                                        data(dw)});
    return {dw, dx};
  }
};

// With `defer` RouteFunction sees to the gradient of H x (MixGradient::of_route).
class StreamUpdateFunction : public Function<StreamUpdateFunction> {
 public:
  static Tensor forward(AutogradContext* context, const OptionalTensor& h, const Tensor& x,
                        const Tensor& w, const Tensor& y, bool defer) {
    Tensor updated = torch::empty_like(x, x.options().requires_grad(false));
    kernels::stream_update_forward({stream_shape(w, x), y.size(-1) != x.size(-1), data(x), data(h),
                                    data(w), data(y), data(updated)});
    save(context, {defer ? OptionalTensor() : h, x, w, y});
    return updated;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = saved_variables(context);
    const Tensor dupdated = gradients[0].contiguous();
    const bool mixes = saved[0].defined();
    const Tensor dh = mixes ? gradient_memory(saved, 0) : Tensor();
    const Tensor dx = mixes ? gradient_memory(saved, 1) : Tensor();
    const Tensor dw = gradient_memory(saved, 2);
    const Tensor dy = gradient_memory(saved, 3);
    kernels::stream_update_backward({stream_shape(saved[2], saved[1]),
                                     saved[3].size(-1) != saved[1].size(-1), data(saved[1]),
                                     data(saved[0]), data(saved[2]), data(saved[3]), data(dupdated),
                                     data(dx), data(dh), data(dw), data(dy)});
    return {dh, mixes ? dx : dupdated, dw, dy, {}};
  }
};

}  // namespace

Tensor stream_mix(const Tensor& g_forward, const Tensor& g_backward, const Tensor& x) {
  return StreamMixFunction::apply(g_forward.detach().contiguous(), g_backward.contiguous(),
                                  x.contiguous());
}

WithInput stream_aggregate(const Tensor& w, const Tensor& x) {
  const variable_list both = StreamAggregateFunction::apply(w.contiguous(), x.contiguous());
  return {both[0], both[1]};
}

Tensor stream_update(const Tensor& h, const Tensor& x, const Tensor& w, const Tensor& y,
                     MixGradient gradient) {
  return StreamUpdateFunction::apply(optional(h), x.contiguous(), w.contiguous(), y.contiguous(),
                                     gradient == MixGradient::of_route);
}

}  // namespace edelta::ops::fused
