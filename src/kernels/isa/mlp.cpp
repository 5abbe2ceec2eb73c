#include "edelta/kernels/mlp.h"

#include <omp.h>

#include "kernels/isa/normed_input.h"
#include "kernels/isa/rows.h"
#include "kernels/isa/stream_copy.h"
#include "kernels/isa/thread_gradients.h"
#include "kernels/isa/tile_product.h"
#include "kernels/isa/token_tiles.h"
#include "kernels/isa/transpose.h"
#include "kernels/isa/vector_math.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

constexpr int64_t kTileRows = 96;

// h = GELU(h + bias) for one row; the argument goes to `pre_activation` unless that is null.
void activate(int64_t n, const float* bias, float* pre_activation, float* h) {
  if (bias != nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) h[i] += bias[i];
  }
  if (pre_activation != nullptr) stream_copy(h, n, pre_activation);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) h[i] = gelu(h[i]);
}

// h = GELU(z) again, and dh, the gradient at h, becomes that at z.
void activate_backward(int64_t n, const float* z, float* h, float* dh) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const GeluAndSlope g = gelu_and_slope(z[i]);
    h[i] = g.value;
    dh[i] *= g.slope;
  }
}

}  // namespace

void mlp_forward(const MlpForward& a) {
  const TokenTiles tiles(a.tokens, kTileRows, a.hidden * (a.in + a.out));
  Scratch scratch;
  const NormedInput input(a, tiles, scratch);
  const int64_t hidden_stride = padded(a.hidden);
  const int64_t out_stride = padded(a.out);
  float* fc = scratch.floats(a.in * hidden_stride);
  float* proj = scratch.floats(a.hidden * out_stride);
  float* hidden = scratch.floats(tiles.threads() * tiles.rows() * hidden_stride);
  const TileProduct expand = TileProduct::of_rows(
      tiles, a.hidden, a.in, {input.stride(), hidden_stride, hidden_stride}, Gemm::C::overwrite);
  const TileProduct project =
      TileProduct::of_rows(tiles, a.out, a.hidden, {hidden_stride, out_stride, a.out},
                           starting_form(a.residual, a.proj_bias));
#pragma omp parallel num_threads(tiles.threads())
  {
    shared_transpose(a.fc_weight, a.hidden, a.in, fc, hidden_stride);
    shared_transpose(a.proj_weight, a.out, a.hidden, proj, out_stride);
    const int thread = omp_get_thread_num();
    float* h = hidden + thread * tiles.rows() * hidden_stride;
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < tiles.count(); ++tile) {
      const int64_t first = tiles.first(tile);
      const int64_t rows = tiles.rows(tile);
      expand(rows, input.forward(tile, thread, a.eps, a.mean, a.rstd), fc, h);
      for (int64_t r = 0; r < rows; ++r) {
        activate(a.hidden, a.fc_bias, at_or_null(a.pre_activation, (first + r) * a.hidden),
                 h + r * hidden_stride);
      }
      float* y = a.y + first * a.out;
      start_rows(rows, a.out, at_or_null(a.residual, first * a.out), a.proj_bias, y);
      project(rows, h, proj, y);
    }
    stream_fence();
  }
}

void mlp_backward(const MlpBackward& a) {
  const TokenTiles tiles(a.tokens, kTileRows, a.hidden * (a.in + a.out));
  Scratch scratch;
  ThreadGradients gradients;
  const int dfc_weight = gradients.add(a.dfc_weight, a.hidden * a.in);
  const int dfc_bias = gradients.add(a.dfc_bias, a.hidden);
  const int dproj_weight = gradients.add(a.dproj_weight, a.out * a.hidden);
  const int dproj_bias = gradients.add(a.dproj_bias, a.out);
  const int dnorm_weight = gradients.add(a.dnorm_weight, a.in);
  const int dnorm_bias = gradients.add(a.dnorm_bias, a.in);
  gradients.allocate(scratch, tiles.threads());
  const NormedInput input(a, tiles, scratch);
  const int64_t stride = padded(a.hidden);
  const InputGradient<MlpBackward> input_gradient(a, tiles, a.hidden, stride, scratch);
  const int64_t tile_floats = tiles.rows() * stride;
  float* hidden = scratch.floats(tiles.threads() * 2 * tile_floats);
  const TileProduct project_back =
      TileProduct::of_rows(tiles, a.hidden, a.out, {a.out, a.hidden, stride}, Gemm::C::overwrite);
  const TileProduct proj_gradient =
      TileProduct::over_rows(tiles, a.out, a.hidden, {a.out, stride, a.hidden});
  const TileProduct fc_gradient =
      TileProduct::over_rows(tiles, a.hidden, a.in, {stride, input.stride(), a.in});
#pragma omp parallel num_threads(tiles.threads())
  {
    const int thread = omp_get_thread_num();
    const ThreadGradients::Sums sums = gradients.start(thread);
    float* h = hidden + thread * 2 * tile_floats;
    float* dh = h + tile_floats;
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < tiles.count(); ++tile) {
      const int64_t first = tiles.first(tile);
      const int64_t rows = tiles.rows(tile);
      const float* dy = a.dy + first * a.out;
      project_back(rows, dy, a.proj_weight, dh);
      for (int64_t r = 0; r < rows; ++r) {
        activate_backward(a.hidden, a.pre_activation + (first + r) * a.hidden, h + r * stride,
                          dh + r * stride);
      }
      if (a.dproj_bias != nullptr) add_rows(rows, a.out, dy, a.out, sums[dproj_bias]);
      if (a.dfc_bias != nullptr) add_rows(rows, a.hidden, dh, stride, sums[dfc_bias]);
      if (a.dproj_weight != nullptr) proj_gradient(rows, dy, h, sums[dproj_weight]);
      if (a.dfc_weight != nullptr) {
        fc_gradient(rows, dh, input.again(tile, thread, a.mean, a.rstd), sums[dfc_weight]);
      }
      input_gradient(tile, thread, dh, a.fc_weight, sums[dnorm_weight], sums[dnorm_bias]);
    }
    gradients.shared_reduce();
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
