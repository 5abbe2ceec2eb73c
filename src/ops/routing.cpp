#include "edelta/ops/routing.h"

#include "edelta/ops/dispatch.h"
#include "edelta/ops/streams.h"
#include "ops/fused.h"

namespace edelta::ops {

using torch::Tensor;

Routed route(const Tensor& x, const Norm& norm, const Affine& map, int64_t streams,
             const CayleyIteration& cayley) {
  if (use_fused({x, norm.weight, norm.bias, map.weight, map.bias})) {
    return fused::route(x, norm, map, streams, cayley);
  }
  const Tensor logits = linear(x, norm, map).unflatten(-1, {-1, streams, streams});
  const Mixers h = token_mixers(logits, cayley);
  return {stream_aggregate(h.pre, x).y, h.residual, h.post, x};
}

Tensor routed_update(const Routed& routed, const Tensor& y) {
  if (routed.fused) return fused::routed_update(routed, y);
  return stream_update(routed.residual, routed.x, routed.post, y);
}

}  // namespace edelta::ops
