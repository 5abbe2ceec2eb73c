// A tile of tokens stays in the L2 cache from its logits to its aggregate, and on the way back from
// the gradients of the mixers to that of x: at D = 512 a token's row is 2 KiB, of which the
// backward pass holds six (x, the gradient of the mixed streams and what it gives x, the normed x,
// its gradient, and dx).
//
//   forward    x → z → pre, post, H_res → aggregate
//   backward   dmixed → dH_res, daggregate → dpre;  dpre, dpost, dH_res → dz → dx, dW, …
#include "edelta/kernels/route.h"

#include "edelta/kernels/stream.h"
#include "edelta/kernels/token_operator.h"
#include "kernels/isa/linear_tiles.h"

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
  if (a.residual != nullptr) {
    iterative_cayley_forward(
        {shape, a.iterations, a.alpha, z + 2 * entries, a.residual + first * entries});
  }
  stream_aggregate_forward({{tokens, n, d}, x, a.pre + first * n, a.aggregate + first * d});
}

// dz, and what flows to x past the logits: `straight`, of the tile alone.
void route_tokens_backward(const RouteBackward& a, int64_t first, int64_t tokens, float* dz,
                           float* straight) {
  const int64_t n = a.streams, width = a.logits.in, d = width / n, entries = n * n;
  const float* x = a.logits.x + first * width;
  const float* z = a.z + first * a.logits.out;
  const float* dx = a.dmixed + first * width;
  const TokenOperatorShape shape{tokens, n, a.logits.out};
  dz += first * a.logits.out;
  Scratch scratch;
  if (a.residual != nullptr) {
    float* dresidual = scratch.floats(tokens * entries);
    stream_mix_backward(
        {{1, tokens, tokens, n, d}, x, a.residual + first * entries, dx, straight, dresidual});
    if (a.dresidual != nullptr) {
      add_rows(1, tokens * entries, a.dresidual + first * entries, 0, dresidual);
    }
    iterative_cayley_backward(
        {shape, a.iterations, a.alpha, z + 2 * entries, dresidual, dz + 2 * entries});
    dx = straight;
  }
  float* dpre = scratch.floats(tokens * n);
  stream_aggregate_backward(
      {{tokens, n, d}, x, a.pre + first * n, a.daggregate + first * d, dx, straight, dpre});
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
  const int64_t tile_size = tiles.rows() * a.logits.in;
  Scratch scratch;
  float* dz = scratch.floats(a.logits.tokens * a.logits.out);
  float* straight = scratch.floats(tiles.threads() * tile_size);
  LinearBackward logits = a.logits;
  logits.dy = dz;
  logits.straight = straight;
  linear_backward_tiles(logits, tiles, [&](int64_t tile) {
    float* of_tile = straight + omp_get_thread_num() * tile_size;
    route_tokens_backward(a, tiles.first(tile), tiles.rows(tile), dz, of_tile);
    return of_tile;
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
