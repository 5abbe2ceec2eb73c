// A tile of tokens stays in the L2 cache from its logits to its aggregate, and on the way back from
// the gradients of the mixers to that of x. At D = 512 a token's row takes 2 KiB; the products of
// the backward pass hold four of them (x, normed x and its gradient, and what flows to x past the
// logits), 768 KiB with the tile's 96 tokens.
//
//   forward    x → z → pre, post, H_res → aggregate
//   backward   dmixed → dH_res, daggregate → dpre;  dpre, dpost, dH_res → dz → dx, dW, …
#include "kernels/route.h"

#include "kernels/isa/linear_tiles.h"
#include "kernels/iterative_cayley.h"
#include "kernels/mixer_weights.h"
#include "kernels/sinkhorn.h"
#include "kernels/stream.h"

namespace edelta::kernels::EDELTA_ISA {

// The kernels that work on a tile.
void mixer_weights_forward(const MixerWeightsForward&);
void mixer_weights_backward(const MixerWeightsBackward&);
void iterative_cayley_forward(const IterativeCayleyForward&);
void iterative_cayley_backward(const IterativeCayleyBackward&);
void stream_aggregate_forward(const StreamAggregateForward&);
void stream_aggregate_backward(const StreamAggregateBackward&);
void stream_mix_backward(const StreamMixBackward&);

namespace {

constexpr int64_t kTileRows = 96;

// Rows `first` … `first + tokens` of everything.
void route_tokens(const RouteForward& a, int64_t first, int64_t tokens) {
  const int64_t n = a.streams, width = a.logits.in, d = width / n, entries = n * n;
  const float* x = a.logits.x + first * width;
  const float* z = a.logits.y + first * a.logits.out;
  const TokenOperatorShape shape{tokens, n, a.logits.out};
  mixer_weights_forward({shape, z, z + entries, a.pre + first * n, a.post + first * n});
  if (a.h_res != nullptr) {
    iterative_cayley_forward(
        {shape, a.iterations, a.alpha, z + 2 * entries, a.h_res + first * entries});
  }
  stream_aggregate_forward({{tokens, n, d}, x, a.pre + first * n, a.aggregate + first * d});
}

// Of the tile alone: dz, and `straight`, what flows to x past the logits.
void route_tokens_backward(const RouteBackward& a, int64_t first, int64_t tokens, float* dz,
                           float* straight) {
  const int64_t n = a.streams, width = a.logits.in, d = width / n, entries = n * n;
  const float* x = a.logits.x + first * width;
  const float* z = a.z + first * a.logits.out;
  const float* unmixed = a.dmixed + first * width;
  const TokenOperatorShape shape{tokens, n, a.logits.out};
  Scratch scratch;
  if (a.h_res != nullptr) {
    float* dh_res = scratch.floats(tokens * entries);
    stream_mix_backward(
        {{1, tokens, tokens, n, d}, x, a.h_res + first * entries, unmixed, straight, dh_res});
    if (a.dh_res != nullptr) {
      const float* more = a.dh_res + first * entries;
      for (int64_t i = 0; i < tokens * entries; ++i) dh_res[i] += more[i];
    }
    iterative_cayley_backward(
        {shape, a.iterations, a.alpha, z + 2 * entries, dh_res, dz + 2 * entries});
    unmixed = straight;
  }
  float* dpre = scratch.floats(tokens * n);
  stream_aggregate_backward(
      {{tokens, n, d}, x, a.pre + first * n, a.daggregate + first * d, unmixed, straight, dpre});
  mixer_weights_backward({shape, z, z + entries, dpre, a.dpost + first * n, dz, dz + entries});
}

}  // namespace

void route_forward(const RouteForward& a) {
  const TokenTiles tiles(a.logits.tokens, kTileRows, a.logits.in * a.logits.out);
  linear_forward_tiles(a.logits, tiles,
                       [&](int64_t tile) { route_tokens(a, tiles.first(tile), tiles.rows(tile)); });
}

void route_backward(const RouteBackward& a) {
  const TokenTiles tiles(a.logits.tokens, kTileRows, a.logits.in * a.logits.out);
  const int64_t row = a.logits.out + a.logits.in;
  Scratch scratch;
  float* memory = scratch.floats(tiles.threads() * tiles.rows() * row);
  linear_backward_tiles(a.logits, tiles, /*adds=*/true, [&](int64_t tile) {
    float* dz = memory + omp_get_thread_num() * tiles.rows() * row;
    float* straight = dz + tiles.rows() * a.logits.out;
    route_tokens_backward(a, tiles.first(tile), tiles.rows(tile), dz, straight);
    return TileGradients{dz, straight};
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
