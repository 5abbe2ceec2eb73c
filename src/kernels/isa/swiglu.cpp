#include "kernels/swiglu.h"

#include <omp.h>

#include <algorithm>
#include <cstring>

#include "kernels/isa/past_caches.h"
#include "kernels/isa/right_weight.h"
#include "kernels/isa/rms_row.h"
#include "kernels/isa/silu.h"
#include "kernels/isa/thread_gradients.h"
#include "kernels/isa/tile_product.h"
#include "kernels/isa/token_tiles.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// g and u of a tile take twice the inner width: beside them and the weights, L2 holds fewer rows
// than those of an MLP's tile.
constexpr int64_t kForwardRows = 48;
// On the way back the weights' gradients are there, too: a block of the inner width at a time.
// Measured at width 128, inner 512: 16 % faster than tiles of 48 rows with the whole width.
constexpr int64_t kBackwardRows = 96;
constexpr int64_t kInnerBlock = 64;

// Multiply-adds of a token.
template <typename Arguments>
int64_t work_of(const Arguments& a) {
  return 3 * a.width * a.inner;
}

// y = N(x + y) for a tile's rows. The product does not start from x: each of its additions would
// round at x's size.
void normalise_rows(const SwiGluForward& a, int64_t first, int64_t rows) {
  for (int64_t token = first; token < first + rows; ++token) {
    const float* x = a.x + token * a.width;
    float* y = a.y + token * a.width;
#pragma omp simd
    for (int64_t i = 0; i < a.width; ++i) y[i] += x[i];
    const float rstd = inverse_rms(y, a.width, a.eps);
    scale_row(y, a.width, rstd, y);
    if (a.rstd != nullptr) a.rstd[token] = rstd;
  }
}

// The products of one block of the inner width on the way back.
struct BlockProducts {
  BlockProducts(const SwiGluBackward& a, const TokenTiles& tiles, int64_t inner, int64_t stride)
      : project_back(TileProduct::of_rows(tiles, inner, a.width, {a.width, a.inner, stride},
                                          Gemm::C::overwrite)),
        down_gradient(TileProduct::over_rows(tiles, a.width, inner, {a.width, stride, a.inner})),
        half_gradient(TileProduct::over_rows(tiles, inner, a.width, {stride, a.width, a.width})),
        expand_back(TileProduct::of_rows(tiles, a.width, inner, {stride, a.width, a.width},
                                         Gemm::C::accumulate)) {}
  TileProduct project_back, down_gradient, half_gradient, expand_back;
};

// The backward pass of one tile, block after block of the inner width: what a block needs of the
// weights, of their gradients and of the tile stays in L2, and the tile can have more rows for
// which the weights come from farther away once.
class TileBackward {
 public:
  enum Sum { kGateUp, kDown };

  TileBackward(const SwiGluBackward& a, const TokenTiles& tiles, Scratch& scratch)
      : a_(a),
        tiles_(tiles),
        block_(std::min(kInnerBlock, a.inner)),
        stride_(padded(block_)),
        memory_(scratch.floats(tiles.threads() * thread_floats())),
        whole_(a, tiles, block_, stride_),
        last_(a, tiles, a.inner - (a.inner - 1) / block_ * block_, stride_) {}

  void operator()(int64_t tile, int thread, const ThreadGradients::Sums& sums) const {
    const int64_t first = tiles_.first(tile);
    const int64_t rows = tiles_.rows(tile);
    const float* ds = sum_gradient(first, rows, memory_ + thread * thread_floats());
    if (a_.dx != nullptr) start_gradient(first, rows, ds);
    for (int64_t from = 0; from < a_.inner; from += block_) {
      const int64_t inner = std::min(block_, a_.inner - from);
      block(inner == block_ ? whole_ : last_, first, rows, from, inner, thread, ds, sums);
    }
  }

 private:
  bool normed() const { return a_.y != nullptr; }

  // The gradient at SwiGLU's output: dy itself, or with a norm that of x + SwiGLU(x), in `to`.
  const float* sum_gradient(int64_t first, int64_t rows, float* to) const {
    const float* dy = a_.dy + first * a_.width;
    if (!normed()) return dy;
    for (int64_t r = 0; r < rows; ++r) {
      inverse_rms_backward(a_.y + (first + r) * a_.width, a_.rstd[first + r], dy + r * a_.width,
                           a_.width, to + r * a_.width);
    }
    return to;
  }

  // What dx is before the blocks add to it.
  void start_gradient(int64_t first, int64_t rows, const float* ds) const {
    float* dx = a_.dx + first * a_.width;
    if (normed()) {
      std::memcpy(dx, ds, rows * a_.width * sizeof(float));
    } else {
      std::memset(dx, 0, rows * a_.width * sizeof(float));
    }
  }

  void block(const BlockProducts& products, int64_t first, int64_t rows, int64_t from,
             int64_t inner, int thread, const float* ds, const ThreadGradients::Sums& sums) const {
    float* h = memory_ + thread * thread_floats() + tiles_.rows() * padded(a_.width);
    float* dg = h + tiles_.rows() * stride_;
    float* du = dg + tiles_.rows() * stride_;
    products.project_back(rows, ds, a_.down + from, dg);
    for (int64_t r = 0; r < rows; ++r) {
      const float* g = a_.pre_activation + (first + r) * 2 * a_.inner + from;
      gate_backward(inner, g, g + a_.inner, dg + r * stride_, h + r * stride_, dg + r * stride_,
                    du + r * stride_);
    }
    const float* x = a_.x + first * a_.width;
    const int64_t gate_at = from * a_.width, up_at = (a_.inner + from) * a_.width;
    if (a_.ddown != nullptr) products.down_gradient(rows, ds, h, sums[kDown] + from);
    if (a_.dgate_up != nullptr) {
      products.half_gradient(rows, dg, x, sums[kGateUp] + gate_at);
      products.half_gradient(rows, du, x, sums[kGateUp] + up_at);
    }
    if (a_.dx == nullptr) return;
    products.expand_back(rows, dg, a_.gate_up + gate_at, a_.dx + first * a_.width);
    products.expand_back(rows, du, a_.gate_up + up_at, a_.dx + first * a_.width);
  }

  int64_t thread_floats() const { return tiles_.rows() * (padded(a_.width) + 3 * stride_); }

  const SwiGluBackward& a_;
  TokenTiles tiles_;
  int64_t block_, stride_;
  float* memory_;  // for each thread tiles of the gradient of the sum, of h, dg and du
  BlockProducts whole_, last_;
};

}  // namespace

void swiglu_forward(const SwiGluForward& a) {
  const TokenTiles tiles(a.tokens, kForwardRows, work_of(a));
  Scratch scratch;
  const int64_t z_stride = padded(2 * a.inner);
  const int64_t out_stride = padded(a.width);
  float* memory = scratch.floats(tiles.threads() * tiles.rows() * z_stride);
  const TileProduct expand = TileProduct::of_weight(
      tiles, 2 * a.inner, a.width, {a.width, z_stride, z_stride}, Gemm::C::overwrite);
  const TileProduct project = TileProduct::of_weight(
      tiles, a.width, a.inner, {z_stride, out_stride, a.width}, Gemm::C::overwrite);
  const RightWeight gate_up(expand, a.gate_up, 2 * a.inner, a.width, z_stride, scratch);
  const RightWeight down(project, a.down, a.width, a.inner, out_stride, scratch);
#pragma omp parallel num_threads(tiles.threads())
  {
    const float* gate_up_right = gate_up.shared();
    const float* down_right = down.shared();
    float* z = memory + omp_get_thread_num() * tiles.rows() * z_stride;
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < tiles.count(); ++tile) {
      const int64_t first = tiles.first(tile);
      const int64_t rows = tiles.rows(tile);
      expand(rows, a.x + first * a.width, gate_up_right, z);
      for (int64_t r = 0; r < rows; ++r) {
        float* row = z + r * z_stride;
        if (a.pre_activation != nullptr) {
          copy_past_caches(row, 2 * a.inner, a.pre_activation + (first + r) * 2 * a.inner);
        }
        gate(a.inner, row, row + a.inner, row);
      }
      project(rows, z, down_right, a.y + first * a.width);
      if (a.normed) normalise_rows(a, first, rows);
    }
    fence_past_caches();
  }
}

void swiglu_backward(const SwiGluBackward& a) {
  const TokenTiles tiles(a.tokens, kBackwardRows, work_of(a));
  Scratch scratch;
  ThreadGradients gradients;
  gradients.add(TileBackward::kGateUp, a.dgate_up, 2 * a.inner * a.width);
  gradients.add(TileBackward::kDown, a.ddown, a.width * a.inner);
  gradients.allocate(scratch, tiles.threads());
  const TileBackward tile_backward(a, tiles, scratch);
#pragma omp parallel num_threads(tiles.threads())
  {
    const int thread = omp_get_thread_num();
    const ThreadGradients::Sums sums = gradients.start(thread);
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < tiles.count(); ++tile) tile_backward(tile, thread, sums);
    gradients.shared_reduce();
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
