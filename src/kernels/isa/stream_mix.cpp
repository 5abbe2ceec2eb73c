#include <string.h>

#include "kernels/isa/stream.h"
#include "kernels/stream.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// The operator of a token, as an offset into [B, operators, n, n].
int64_t operator_at(const StreamMixShape& shape, int64_t sequence, int64_t token) {
  return (sequence * shape.operators + (shape.operators == 1 ? 0 : token)) * shape.streams *
         shape.streams;
}

template <int kStreams, typename V>
void mix_token(int64_t streams, int64_t width, int64_t begin, int64_t end, const float* g,
               const float* x, float* __restrict y) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t c = begin; c < end; c += kWidthOf<V>) {
    for (int64_t i = 0; i < n; ++i) {
      V mixed = g[i * n] * load<V>(x + c);
      for (int64_t j = 1; j < n; ++j) mixed += g[i * n + j] * load<V>(x + j * width + c);
      store(y + i * width + c, mixed);
    }
  }
}

// How far ahead the backward pass asks for memory, in floats: the pieces of a token are too short
// for the processor to foresee them.
constexpr int64_t kAhead = 2048;

// dx_j = Σ_i G_ij dy_i and dots_ij += dy_i∘x_j.
template <int kStreams, typename V>
void mix_token_backward(int64_t streams, int64_t width, int64_t begin, int64_t end, const float* g,
                        const float* x, const float* dy, float* __restrict dx,
                        Accumulators<V, kStreams * kStreams>& dots) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t c = begin; c < end; c += kWidthOf<V>) {
    for (int64_t j = 0; j < n; ++j) {
      if constexpr (kWidthOf<V> == kLanes) {
        __builtin_prefetch(x + kAhead + j * width + c);
        __builtin_prefetch(dy + kAhead + j * width + c);
      }
      const V x_j = load<V>(x + j * width + c);
      V mixed{};
      for (int64_t i = 0; i < n; ++i) {
        const V dy_i = load<V>(dy + i * width + c);
        mixed += g[i * n + j] * dy_i;
        dots[i * n + j] += dy_i * x_j;
      }
      store(dx + j * width + c, mixed);
    }
  }
}

// `dg`: the gradients of the slice's operators, one for each token or a part of the sequence's one.
template <int kStreams>
void mix_slice_backward(const StreamMixBackward& a, int64_t sequence, Slice slice, float* dg) {
  const auto& shape = a.shape;
  const int64_t entries = shape.streams * shape.streams;
  const bool per_token = shape.operators > 1;
  memset(dg, 0, (per_token ? slice.end - slice.begin : 1) * entries * sizeof(float));
  for_widths(shape.width, [&]<typename V>(int64_t begin, int64_t end) {
    constexpr int kN = kStreamsFor<kStreams, V>;
    Scratch scratch;
    Accumulators<V, kN * kN> dots(entries, scratch);
    dots.clear();
    for (int64_t t = slice.begin; t < slice.end; ++t) {
      const int64_t at = (sequence * shape.tokens + t) * shape.streams * shape.width;
      mix_token_backward<kN, V>(shape.streams, shape.width, begin, end,
                                a.g_backward + operator_at(shape, sequence, t), a.x + at, a.dy + at,
                                a.dx + at, dots);
      if (per_token) {
        dots.add_sums_to(dg + (t - slice.begin) * entries);
        dots.clear();
      }
    }
    if (!per_token) dots.add_sums_to(dg);
  });
}

}  // namespace

void stream_mix_forward(const StreamMixForward& a) {
  const auto& shape = a.shape;
  const int64_t slices = slice_count(shape.tokens);
  in_parallel(shape.batch * slices, [&](int64_t item) {
    const int64_t sequence = item / slices;
    const Slice slice(shape.tokens, item % slices);
    with_streams(shape.streams, [&]<int kStreams>() {
      for_widths(shape.width, [&]<typename V>(int64_t begin, int64_t end) {
        for (int64_t t = slice.begin; t < slice.end; ++t) {
          const int64_t at = (sequence * shape.tokens + t) * shape.streams * shape.width;
          mix_token<kStreamsFor<kStreams, V>, V>(shape.streams, shape.width, begin, end,
                                                 a.g + operator_at(shape, sequence, t), a.x + at,
                                                 a.y + at);
        }
      });
    });
  });
}

void stream_mix_backward(const StreamMixBackward& a) {
  const auto& shape = a.shape;
  const int64_t slices = slice_count(shape.tokens);
  const int64_t entries = shape.streams * shape.streams;
  // One operator for a whole sequence: every slice leaves its part, then they are added in order.
  const bool in_parts = shape.operators == 1;
  Scratch scratch;
  float* parts = in_parts ? scratch.floats(shape.batch * slices * entries) : nullptr;
  in_parallel(shape.batch * slices, [&](int64_t item) {
    const int64_t sequence = item / slices;
    const Slice slice(shape.tokens, item % slices);
    float* dg =
        in_parts ? parts + item * entries : a.dg + operator_at(shape, sequence, slice.begin);
    with_streams(shape.streams,
                 [&]<int kStreams>() { mix_slice_backward<kStreams>(a, sequence, slice, dg); });
  });
  if (!in_parts) return;
  in_parallel(shape.batch, [&](int64_t sequence) {
    add_slices(parts + sequence * slices * entries, slices, entries, 1, a.dg + sequence * entries);
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
