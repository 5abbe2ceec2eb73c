#include "kernels/iterative_cayley.h"
#include "kernels/isa/token_lanes.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// w = z − zᵀ.
template <int kStreams>
void skew(const Lanes* z, int64_t streams, Lanes* w) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) w[i * n + j] = z[i * n + j] - z[j * n + i];
  }
}

// y = I + αw.
template <int kStreams>
void start(const Lanes* w, int64_t streams, float alpha, Lanes* y) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) y[i * n + j] = alpha * w[i * n + j] + (i == j ? 1.0F : 0.0F);
  }
}

// next = I + (α/2)·w·(I + y), y ≠ next.
template <int kStreams>
void step(const Lanes* w, const Lanes* y, int64_t streams, float alpha, Lanes* __restrict next) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Lanes product = w[i * n + j];
      for (int64_t k = 0; k < n; ++k) product += w[i * n + k] * y[k * n + j];
      next[i * n + j] = alpha / 2 * product + (i == j ? 1.0F : 0.0F);
    }
  }
}

// dw += (α/2)·dnext·(I + y)ᵀ and dy = (α/2)·wᵀ·dnext, dy ≠ dnext.
template <int kStreams>
void step_backward(const Lanes* w, const Lanes* y, const Lanes* dnext, int64_t streams, float alpha,
                   Lanes* __restrict dw, Lanes* __restrict dy) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      Lanes for_w = dnext[i * n + j];
      Lanes for_y{};
      for (int64_t k = 0; k < n; ++k) {
        for_w += dnext[i * n + k] * y[j * n + k];
        for_y += w[k * n + i] * dnext[k * n + j];
      }
      dw[i * n + j] += alpha / 2 * for_w;
      dy[i * n + j] = alpha / 2 * for_y;
    }
  }
}

}  // namespace

void iterative_cayley_forward(const IterativeCayleyForward& a) {
  const int64_t n = a.shape.streams;
  const int64_t entries = n * n;
  for_token_blocks(a.shape, [&]<int kStreams>(int64_t first, int64_t tokens) {
    Scratch scratch;
    Lanes* w = lanes(scratch, entries);
    Lanes* y = lanes(scratch, entries);
    Lanes* next = lanes(scratch, entries);
    load_tokens(a.z + first * a.shape.stride, a.shape.stride, tokens, entries, y);
    skew<kStreams>(y, n, w);
    start<kStreams>(w, n, a.alpha, y);
    for (int64_t k = 0; k < a.iterations; ++k) {
      step<kStreams>(w, y, n, a.alpha, next);
      Lanes* const spare = y;
      y = next;
      next = spare;
    }
    store_tokens(y, tokens, entries, a.h + first * entries, entries);
  });
}

void iterative_cayley_backward(const IterativeCayleyBackward& a) {
  const int64_t n = a.shape.streams;
  const int64_t entries = n * n;
  for_token_blocks(a.shape, [&]<int kStreams>(int64_t first, int64_t tokens) {
    Scratch scratch;
    Lanes* w = lanes(scratch, entries);
    Lanes* dw = lanes(scratch, entries);
    Lanes* dy = lanes(scratch, entries);
    Lanes* spare = lanes(scratch, entries);
    Lanes* y = lanes(scratch, (a.iterations + 1) * entries);  // Y₀, Y₁, …
    load_tokens(a.z + first * a.shape.stride, a.shape.stride, tokens, entries, y);
    skew<kStreams>(y, n, w);
    start<kStreams>(w, n, a.alpha, y);
    for (int64_t k = 0; k + 1 < a.iterations; ++k) {
      step<kStreams>(w, y + k * entries, n, a.alpha, y + (k + 1) * entries);
    }
    for (int64_t e = 0; e < entries; ++e) dw[e] = Lanes{};
    load_tokens(a.dh + first * entries, entries, tokens, entries, dy);
    for (int64_t k = a.iterations - 1; k >= 0; --k) {
      step_backward<kStreams>(w, y + k * entries, dy, n, a.alpha, dw, spare);
      Lanes* const used = dy;
      dy = spare;
      spare = used;
    }
    for (int64_t e = 0; e < entries; ++e) dw[e] += a.alpha * dy[e];
    skew<kStreams>(dw, n, spare);
    store_tokens(spare, tokens, entries, a.dz + first * a.shape.stride, a.shape.stride);
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
