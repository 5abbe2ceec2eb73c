#include "edelta/ops/routing.h"

#include <vector>

#include "edelta/ops/implementation.h"
#include "edelta/ops/streams.h"
#include "ops/fused/fused.h"
#include "ops/shapes.h"

namespace edelta::ops {

using torch::Tensor;

Mixers token_mixers(const Tensor& z, const CayleyIteration& cayley) {
  shapes::require_mixer_logits(z, cayley.iterations);
  const std::vector<Tensor> parts = z.unbind(-3);
  Mixers mixers{parts[0].softmax(-1).mean(-2), parts[1].softmax(-2).sum(-1), {}};
  if (parts.size() > 2) mixers.h_res = iterative_cayley(parts[2], cayley);
  return mixers;
}

Routed route(const Tensor& x, const Norm& norm, const Affine& map, int64_t streams,
             const CayleyIteration& cayley) {
  shapes::require_route(x, norm, map, streams, cayley.iterations);
  if (use_fused({x, norm.weight, norm.bias, map.weight, map.bias})) {
    return fused::route(x, norm, map, streams, cayley);
  }
  const Tensor logits = linear(x, norm, map).unflatten(-1, {-1, streams, streams});
  const Mixers h = token_mixers(logits, cayley);
  return {stream_aggregate(h.pre, x).y, h.post, h.h_res,
          [h, x](const Tensor& y) { return stream_update(h.h_res, x, h.post, y); }};
}

}  // namespace edelta::ops
