#include "kernels/mlp.h"

#include <omp.h>

#include "kernels/isa/dropped_tiles.h"
#include "kernels/isa/normed_input.h"
#include "kernels/isa/past_caches.h"
#include "kernels/isa/right_weight.h"
#include "kernels/isa/rows.h"
#include "kernels/isa/thread_gradients.h"
#include "kernels/isa/tile_product.h"
#include "kernels/isa/token_tiles.h"
#include "kernels/isa/vector_math.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// h = GELU(h + bias) on a tile; the argument goes to `pre_activation` unless that is null.
void activate(int64_t rows, int64_t n, const float* bias, float* pre_activation, float* h,
              int64_t stride) {
  for (int64_t r = 0; r < rows; ++r, h += stride) {
    if (bias != nullptr) {
#pragma omp simd
      for (int64_t i = 0; i < n; ++i) h[i] += bias[i];
    }
    if (pre_activation != nullptr) copy_past_caches(h, n, pre_activation + r * n);
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) h[i] = gelu(h[i]);
  }
}

// h = GELU(z) again on a tile, and dh, the gradient at h, becomes that at z.
void activate_backward(int64_t rows, int64_t n, const float* z, float* h, float* dh,
                       int64_t stride) {
  for (int64_t r = 0; r < rows; ++r, z += n, h += stride, dh += stride) {
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      const GeluAndSlope g = gelu_and_slope(z[i]);
      h[i] = g.value;
      dh[i] *= g.slope;
    }
  }
}

// The backward pass of one tile.
class TileBackward {
 public:
  enum Sum { kFcWeight, kFcBias, kProjWeight, kProjBias, kNormWeight, kNormBias };

  TileBackward(const MlpBackward& a, const TokenTiles& tiles, Scratch& scratch)
      : a_(a),
        tiles_(tiles),
        stride_(padded(a.hidden)),
        hidden_(scratch.floats(tiles.threads() * 2 * tiles.rows() * stride_)),
        dropped_(a.dropout, tiles, a.out, scratch),
        input_(a, tiles, scratch),
        input_gradient_(a, tiles, a.hidden, stride_, a.straight != nullptr, scratch),
        project_back_(TileProduct::of_rows(tiles, a.hidden, a.out, {a.out, a.hidden, stride_},
                                           Gemm::C::overwrite)),
        proj_gradient_(TileProduct::over_rows(tiles, a.out, a.hidden, {a.out, stride_, a.hidden})),
        fc_gradient_(
            TileProduct::over_rows(tiles, a.hidden, a.in, {stride_, input_.stride(), a.in})) {}

  void operator()(int64_t tile, int thread, const ThreadGradients::Sums& sums) const {
    const int64_t first = tiles_.first(tile);
    const int64_t rows = tiles_.rows(tile);
    const float* dy = dropped_(tile, thread, a_.dy + first * a_.out);
    float* h = hidden_ + thread * 2 * tiles_.rows() * stride_;
    float* dh = h + tiles_.rows() * stride_;
    project_back_(rows, dy, a_.proj_weight, dh);
    activate_backward(rows, a_.hidden, a_.pre_activation + first * a_.hidden, h, dh, stride_);
    if (a_.dproj_bias != nullptr) add_rows(rows, a_.out, dy, a_.out, sums[kProjBias]);
    if (a_.dproj_weight != nullptr) proj_gradient_(rows, dy, h, sums[kProjWeight]);
    if (a_.dfc_bias != nullptr) add_rows(rows, a_.hidden, dh, stride_, sums[kFcBias]);
    if (a_.dfc_weight != nullptr) {
      fc_gradient_(rows, dh, input_.again(tile, thread, a_.mean, a_.rstd), sums[kFcWeight]);
    }
    input_gradient_(tile, thread, dh, a_.fc_weight, at_or_null(a_.straight, first * a_.in),
                    sums[kNormWeight], sums[kNormBias]);
  }

 private:
  const MlpBackward& a_;
  TokenTiles tiles_;
  int64_t stride_;
  float* hidden_;  // for each thread a tile of h and one of dh
  DroppedGradient dropped_;
  NormedInput input_;
  InputGradient<MlpBackward> input_gradient_;
  TileProduct project_back_, proj_gradient_, fc_gradient_;
};

}  // namespace

void mlp_forward(const MlpForward& a) {
  const int64_t weights = a.hidden * (a.in + a.out);
  const TokenTiles tiles(a.tokens, tile_rows(weights), weights);
  Scratch scratch;
  const NormedInput input(a, tiles, scratch);
  const int64_t hidden_stride = padded(a.hidden);
  const int64_t out_stride = padded(a.out);
  float* hidden = scratch.floats(tiles.threads() * tiles.rows() * hidden_stride);
  const TileProduct expand = TileProduct::of_weight(
      tiles, a.hidden, a.in, {input.stride(), hidden_stride, hidden_stride}, Gemm::C::overwrite);
  const TileOutput output(a.dropout, tiles, a.out, a.residual, a.proj_bias, a.y, scratch);
  const TileProduct project = TileProduct::of_weight(
      tiles, a.out, a.hidden, {hidden_stride, out_stride, a.out}, output.form());
  const RightWeight fc_weight(expand, a.fc_weight, a.hidden, a.in, hidden_stride, scratch);
  const RightWeight proj_weight(project, a.proj_weight, a.out, a.hidden, out_stride, scratch);
#pragma omp parallel num_threads(tiles.threads())
  {
    const float* fc = fc_weight.shared();
    const float* proj = proj_weight.shared();
    const int thread = omp_get_thread_num();
    float* h = hidden + thread * tiles.rows() * hidden_stride;
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < tiles.count(); ++tile) {
      const int64_t rows = tiles.rows(tile);
      expand(rows, input.forward(tile, thread, a.eps, a.mean, a.rstd), fc, h);
      activate(rows, a.hidden, a.fc_bias,
               at_or_null(a.pre_activation, tiles.first(tile) * a.hidden), h, hidden_stride);
      project(rows, h, proj, output.start(tile, thread));
      output.finish(tile, thread);
    }
    fence_past_caches();
  }
}

void mlp_backward(const MlpBackward& a) {
  const int64_t weights = a.hidden * (a.in + a.out);
  const TokenTiles tiles(a.tokens, tile_rows(weights), weights);
  Scratch scratch;
  ThreadGradients gradients;
  gradients.add(TileBackward::kFcWeight, a.dfc_weight, a.hidden * a.in);
  gradients.add(TileBackward::kFcBias, a.dfc_bias, a.hidden);
  gradients.add(TileBackward::kProjWeight, a.dproj_weight, a.out * a.hidden);
  gradients.add(TileBackward::kProjBias, a.dproj_bias, a.out);
  gradients.add(TileBackward::kNormWeight, a.dnorm_weight, a.in);
  gradients.add(TileBackward::kNormBias, a.dnorm_bias, a.in);
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
