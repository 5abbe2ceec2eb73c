#include "kernels/mixer_weights.h"
#include "kernels/isa/token_lanes.h"
#include "kernels/isa/vector_exp.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// softmax of n logits that lie `stride` apart.
template <int kStreams>
void softmax(Lanes* z, int64_t streams, int64_t stride) {
  const int64_t n = kStreams > 0 ? kStreams : streams;
  Lanes top = z[0];
  for (int64_t k = 1; k < n; ++k) top = larger(top, z[k * stride]);
  Lanes total{};
  for (int64_t k = 0; k < n; ++k) {
    z[k * stride] = vector_exp<Lanes>(z[k * stride] - top);
    total += z[k * stride];
  }
  const Lanes factor = 1.0F / total;
  for (int64_t k = 0; k < n; ++k) z[k * stride] *= factor;
}

// Both mixers are a sum of n softmaxes: of the rows (Z_pre) or of the columns (Z_post). `line`
// leads from one softmax to the next, `entry` from one of its logits to the next.
struct Mixer {
  int64_t line, entry;
  float factor;
};

Mixer pre_mixer(int64_t n) { return {n, 1, 1 / static_cast<float>(n)}; }
Mixer post_mixer(int64_t n) { return {1, n, 1}; }

// to[token, k] = factor·Σ over lines of softmax_k.
template <int kStreams>
void weights(const float* z, const TokenOperatorShape& shape, Mixer mixer, int64_t first,
             int64_t tokens, float* to) {
  const int64_t n = kStreams > 0 ? kStreams : shape.streams;
  Scratch scratch;
  Lanes* p = lanes(scratch, n * n);
  Lanes* summed = lanes(scratch, n);
  load_tokens(z + first * shape.stride, shape.stride, tokens, n * n, p);
  for (int64_t i = 0; i < n; ++i) softmax<kStreams>(p + i * mixer.line, n, mixer.entry);
  for (int64_t k = 0; k < n; ++k) {
    Lanes total{};
    for (int64_t i = 0; i < n; ++i) total += p[i * mixer.line + k * mixer.entry];
    summed[k] = mixer.factor * total;
  }
  store_tokens(summed, tokens, n, to + first * n, n);
}

// dz = p∘(g − Σ g·p) along each softmax, with the same g = factor·dweights for all of them.
template <int kStreams>
void weights_backward(const float* z, const float* dweights, const TokenOperatorShape& shape,
                      Mixer mixer, int64_t first, int64_t tokens, float* dz) {
  const int64_t n = kStreams > 0 ? kStreams : shape.streams;
  Scratch scratch;
  Lanes* p = lanes(scratch, n * n);
  Lanes* g = lanes(scratch, n);
  load_tokens(z + first * shape.stride, shape.stride, tokens, n * n, p);
  load_tokens(dweights + first * n, n, tokens, n, g);
  for (int64_t k = 0; k < n; ++k) g[k] *= mixer.factor;
  for (int64_t i = 0; i < n; ++i) {
    Lanes* line = p + i * mixer.line;
    softmax<kStreams>(line, n, mixer.entry);
    Lanes along{};
    for (int64_t k = 0; k < n; ++k) along += g[k] * line[k * mixer.entry];
    for (int64_t k = 0; k < n; ++k) line[k * mixer.entry] *= g[k] - along;
  }
  store_tokens(p, tokens, n * n, dz + first * shape.stride, shape.stride);
}

}  // namespace

void mixer_weights_forward(const MixerWeightsForward& a) {
  const int64_t n = a.shape.streams;
  for_token_blocks(a.shape, [&]<int kStreams>(int64_t first, int64_t tokens) {
    weights<kStreams>(a.z_pre, a.shape, pre_mixer(n), first, tokens, a.pre);
    weights<kStreams>(a.z_post, a.shape, post_mixer(n), first, tokens, a.post);
  });
}

void mixer_weights_backward(const MixerWeightsBackward& a) {
  const int64_t n = a.shape.streams;
  for_token_blocks(a.shape, [&]<int kStreams>(int64_t first, int64_t tokens) {
    weights_backward<kStreams>(a.z_pre, a.dpre, a.shape, pre_mixer(n), first, tokens, a.dz_pre);
    weights_backward<kStreams>(a.z_post, a.dpost, a.shape, post_mixer(n), first, tokens, a.dz_post);
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
