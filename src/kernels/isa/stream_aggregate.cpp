#include <string.h>

#include "kernels/isa/stream.h"
#include "kernels/stream.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

template <int kStreams, typename V>
void aggregate_token(const StreamAggregateForward& a, int64_t token, int64_t begin, int64_t end) {
  const int64_t n = kStreams > 0 ? kStreams : a.shape.streams;
  const int64_t d = a.shape.width;
  const float* x = a.x + token * n * d;
  const float* pre = a.pre + token * n;
  for (int64_t c = begin; c < end; c += kWidthOf<V>) {
    V total = pre[0] * load<V>(x + c);
    for (int64_t j = 1; j < n; ++j) total += pre[j] * load<V>(x + j * d + c);
    store(a.a + token * d + c, total);
  }
}

// dx_j = [straight_j +] pre_j da and dpre_j += da∘x_j.
template <int kStreams, bool kStraight, typename V>
void aggregate_token_backward(const StreamAggregateBackward& a, int64_t token, int64_t begin,
                              int64_t end, Accumulators<V, kStreams>& dpre) {
  const int64_t n = kStreams > 0 ? kStreams : a.shape.streams;
  const int64_t d = a.shape.width;
  const float* x = a.x + token * n * d;
  const float* pre = a.pre + token * n;
  float* dx = a.dx + token * n * d;  // may be straight
  for (int64_t c = begin; c < end; c += kWidthOf<V>) {
    const V da = load<V>(a.da + token * d + c);
    for (int64_t j = 0; j < n; ++j) {
      dpre[j] += da * load<V>(x + j * d + c);
      V dx_j = pre[j] * da;
      if constexpr (kStraight) dx_j += load<V>(a.straight + token * n * d + j * d + c);
      store(dx + j * d + c, dx_j);
    }
  }
}

template <int kStreams, bool kStraight>
void aggregate_slice_backward(const StreamAggregateBackward& a, int64_t first, int64_t last) {
  const int64_t n = a.shape.streams;
  memset(a.dpre + first * n, 0, (last - first) * n * sizeof(float));
  for_widths(a.shape.width, [&]<typename V>(int64_t begin, int64_t end) {
    constexpr int kN = kStreamsFor<kStreams, V>;
    Scratch scratch;
    Accumulators<V, kN> dpre(n, scratch);
    for (int64_t token = first; token < last; ++token) {
      dpre.clear();
      aggregate_token_backward<kN, kStraight, V>(a, token, begin, end, dpre);
      dpre.add_sums_to(a.dpre + token * n);
    }
  });
}

}  // namespace

void stream_aggregate_forward(const StreamAggregateForward& a) {
  for_token_slices(a.shape, [&]<int kStreams>(int64_t first, int64_t last) {
    for_widths(a.shape.width, [&]<typename V>(int64_t begin, int64_t end) {
      for (int64_t token = first; token < last; ++token) {
        aggregate_token<kStreamsFor<kStreams, V>, V>(a, token, begin, end);
      }
    });
  });
}

void stream_aggregate_backward(const StreamAggregateBackward& a) {
  for_token_slices(a.shape, [&]<int kStreams>(int64_t first, int64_t last) {
    if (a.straight != nullptr) {
      aggregate_slice_backward<kStreams, true>(a, first, last);
    } else {
      aggregate_slice_backward<kStreams, false>(a, first, last);
    }
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
