#include <string.h>

#include "kernels/isa/past_caches.h"
#include "kernels/isa/stream.h"
#include "kernels/stream.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

template <int kStreams, bool kMixed, bool kPastCaches, typename V>
void update_token(const StreamUpdateForward& a, int64_t token, int64_t begin, int64_t end) {
  const int64_t n = kStreams > 0 ? kStreams : a.shape.streams;
  const int64_t d = a.shape.width;
  const int64_t y_stride = a.shared_y ? 0 : d;
  const float* x = a.x + token * n * d;
  const float* h = kMixed ? a.h + token * n * n : nullptr;
  const float* post = a.post + token * n;
  const float* y = a.y + token * (a.shared_y ? d : n * d);
  float* __restrict updated = a.updated + token * n * d;
  for (int64_t c = begin; c < end; c += kWidthOf<V>) {
    for (int64_t i = 0; i < n; ++i) {
      V sum_i = post[i] * load<V>(y + i * y_stride + c);
      if constexpr (kMixed) {
        for (int64_t j = 0; j < n; ++j) sum_i += h[i * n + j] * load<V>(x + j * d + c);
      } else {
        sum_i += load<V>(x + i * d + c);
      }
      if constexpr (kPastCaches && kWidthOf<V> == kLanes) {
        store_past_caches(updated + i * d + c, sum_i);
      } else {
        store(updated + i * d + c, sum_i);
      }
    }
  }
}

template <int kStreams, bool kMixed, bool kPastCaches>
void update_slice(const StreamUpdateForward& a, int64_t first, int64_t last) {
  for_widths(a.shape.width, [&]<typename V>(int64_t begin, int64_t end) {
    for (int64_t token = first; token < last; ++token) {
      update_token<kStreamsFor<kStreams, V>, kMixed, kPastCaches, V>(a, token, begin, end);
    }
  });
  if constexpr (kPastCaches) fence_past_caches();
}

// dx_j = Σ_i H_ij g_i and dh_ij += g_i∘x_j, g = dupdated.
template <int kStreams, typename V>
void mixed_part(const StreamUpdateBackward& a, int64_t token, int64_t c,
                Accumulators<V, kStreams * kStreams>& dh) {
  const int64_t n = kStreams > 0 ? kStreams : a.shape.streams;
  const int64_t d = a.shape.width;
  const float* x = a.x + token * n * d + c;
  const float* h = a.h + token * n * n;
  const float* g = a.dupdated + token * n * d + c;
  float* __restrict dx = a.dx + token * n * d + c;
  for (int64_t j = 0; j < n; ++j) {
    const V x_j = load<V>(x + j * d);
    V sum_j{};
    for (int64_t i = 0; i < n; ++i) {
      const V g_i = load<V>(g + i * d);
      sum_j += h[i * n + j] * g_i;
      dh[i * n + j] += g_i * x_j;
    }
    store(dx + j * d, sum_j);
  }
}

// dy = Σ_i post_i g_i (shared) or dy_i = post_i g_i, and dpost_i += g_i∘y_i.
template <int kStreams, typename V>
void posted_part(const StreamUpdateBackward& a, int64_t token, int64_t c,
                 Accumulators<V, kStreams>& dpost) {
  const int64_t n = kStreams > 0 ? kStreams : a.shape.streams;
  const int64_t d = a.shape.width;
  const int64_t y_stride = a.shared_y ? 0 : d;
  const int64_t y_at = token * (a.shared_y ? d : n * d) + c;
  const float* post = a.post + token * n;
  const float* g = a.dupdated + token * n * d + c;
  V shared{};
  for (int64_t i = 0; i < n; ++i) {
    const V g_i = load<V>(g + i * d);
    const V posted = post[i] * g_i;
    dpost[i] += g_i * load<V>(a.y + y_at + i * y_stride);
    shared += posted;
    if (!a.shared_y) store(a.dy + y_at + i * d, posted);
  }
  if (a.shared_y) store(a.dy + y_at, shared);
}

template <int kStreams, bool kMixed>
void update_slice_backward(const StreamUpdateBackward& a, int64_t first, int64_t last) {
  const int64_t n = a.shape.streams;
  const int64_t d = a.shape.width;
  memset(a.dpost + first * n, 0, (last - first) * n * sizeof(float));
  if (kMixed) memset(a.dh + first * n * n, 0, (last - first) * n * n * sizeof(float));
  if (!kMixed && a.dx != nullptr) {
    memcpy(a.dx + first * n * d, a.dupdated + first * n * d,
           (last - first) * n * d * sizeof(float));
  }
  for_widths(d, [&]<typename V>(int64_t begin, int64_t end) {
    constexpr int kN = kStreamsFor<kStreams, V>;
    Scratch scratch;
    Accumulators<V, kN * kN> dh(n * n, scratch);
    Accumulators<V, kN> dpost(n, scratch);
    for (int64_t token = first; token < last; ++token) {
      dpost.clear();
      for (int64_t c = begin; c < end; c += kWidthOf<V>) {
        posted_part<kN, V>(a, token, c, dpost);
      }
      dpost.add_sums_to(a.dpost + token * n);
      if constexpr (kMixed) {
        dh.clear();
        for (int64_t c = begin; c < end; c += kWidthOf<V>) {
          mixed_part<kN, V>(a, token, c, dh);
        }
        dh.add_sums_to(a.dh + token * n * n);
      }
    }
  });
}

}  // namespace

void stream_update_forward(const StreamUpdateForward& a) {
  const bool past_caches = outgrows_caches(a.shape.tokens * a.shape.streams * a.shape.width) &&
                           a.shape.width % kLanes == 0 && misaligned(a.updated) == 0;
  const auto update = [&]<bool kMixed, bool kPastCaches>() {
    for_token_slices(a.shape, [&]<int kStreams>(int64_t first, int64_t last) {
      update_slice<kStreams, kMixed, kPastCaches>(a, first, last);
    });
  };
  const auto choose = [&]<bool kMixed>() {
    past_caches ? update.template operator()<kMixed, true>()
                : update.template operator()<kMixed, false>();
  };
  a.h != nullptr ? choose.template operator()<true>() : choose.template operator()<false>();
}

void stream_update_backward(const StreamUpdateBackward& a) {
  for_token_slices(a.shape, [&]<int kStreams>(int64_t first, int64_t last) {
    if (a.h != nullptr) {
      update_slice_backward<kStreams, true>(a, first, last);
    } else {
      update_slice_backward<kStreams, false>(a, first, last);
    }
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
