#include "edelta/ops/streams.h"

#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/shapes.h"

namespace edelta::ops {
namespace {

using torch::Tensor;

// [B, T, n·d] → [B, T, n, d].
Tensor as_streams(const Tensor& x, int64_t n) { return x.unflatten(-1, {n, x.size(-1) / n}); }

Tensor mix(const Tensor& g, const Tensor& x) {
  return g.matmul(as_streams(x, g.size(-1))).flatten(-2);
}

// The value of the first argument, the gradient of the second.
class StraightThrough : public torch::autograd::Function<StraightThrough> {
 public:
  static Tensor forward(torch::autograd::AutogradContext*, const Tensor& value, const Tensor&) {
    return value.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext*,
                                                 const torch::autograd::variable_list& gradient) {
    return {Tensor(), gradient[0]};
  }
};

}  // namespace

Tensor stream_mix(const Tensor& g, const Tensor& x) {
  shapes::require_mixer("stream_mix", "g", g, x);
  if (use_fused({g, x})) return fused::stream_mix(g, g, x);
  return mix(g, x);
}

Tensor stream_mix(const Tensor& g_forward, const Tensor& g_backward, const Tensor& x) {
  shapes::require_mixer("stream_mix_straight_through", "value", g_forward, x);
  shapes::require_mixer("stream_mix_straight_through", "gradient", g_backward, x);
  if (use_fused({g_forward, g_backward, x})) {
    return fused::stream_mix(g_forward, g_backward, x);
  }
  return StraightThrough::apply(mix(g_forward.detach(), x.detach()), mix(g_backward, x));
}

WithInput stream_aggregate(const Tensor& w, const Tensor& x) {
  shapes::stream_aggregate(w, x);
  if (use_fused({w, x})) return fused::stream_aggregate(w, x);
  return {w.unsqueeze(-2).matmul(as_streams(x, w.size(-1))).squeeze(-2), x};
}

Tensor stream_update(const Tensor& h, const Tensor& x, const Tensor& w, const Tensor& y) {
  shapes::require_update(h, x, w, y);
  if (use_fused({h, x, w, y})) return fused::stream_update(h, x, w, y);
  const int64_t n = w.size(-1);
  const bool shared = y.size(-1) != x.size(-1);
  const Tensor distributed = w.unsqueeze(-1) * (shared ? y.unsqueeze(-2) : as_streams(y, n));
  return (h.defined() ? mix(h, x) : x) + distributed.flatten(-2);
}

}  // namespace edelta::ops
