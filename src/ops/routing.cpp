#include "edelta/ops/routing.h"

#include "edelta/ops/dispatch.h"
#include "edelta/ops/streams.h"
#include "ops/fused.h"

namespace edelta::ops {

using torch::Tensor;

Routed route(const Tensor& x, const Norm& norm, const Affine& map, int64_t streams,
             const CayleyIteration& cayley) {
  const int64_t entries = streams * streams;
  TORCH_CHECK(map.weight.size(0) == 2 * entries || map.weight.size(0) == 3 * entries,
              "route takes two or three n×n matrices of logits");
  TORCH_CHECK(map.weight.size(1) == x.size(-1) && x.size(-1) % streams == 0,
              "route takes x [..., n·d] and a weight of that width");
  if (use_fused({x, norm.weight, norm.bias, map.weight, map.bias})) {
    return fused::route(x, norm, map, streams, cayley);
  }
  const Tensor logits = linear(x, norm, map).unflatten(-1, {-1, streams, streams});
  const Mixers h = token_mixers(logits, cayley);
  return {stream_aggregate(h.pre, x).y, h.residual, h.post, x};
}

Tensor routed_update(const Routed& routed, const Tensor& y) {
  TORCH_CHECK(!routed.fused || !routed.residual.defined() ||
                  routed.residual.grad_fn() == routed.x.grad_fn(),
              "routed_update takes what route returned, unchanged");
  if (routed.fused) return fused::routed_update(routed, y);
  return stream_update(routed.residual, routed.x, routed.post, y);
}

}  // namespace edelta::ops
