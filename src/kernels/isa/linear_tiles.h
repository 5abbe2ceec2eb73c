// The linear layer tile by tile, with room for what else shall be done with a tile of tokens while
// it is in the cache.
#pragma once

#include <omp.h>

#include "kernels/isa/dropped_tiles.h"
#include "kernels/isa/normed_input.h"
#include "kernels/isa/right_weight.h"
#include "kernels/isa/rows.h"
#include "kernels/isa/thread_gradients.h"
#include "kernels/isa/tile_product.h"
#include "kernels/isa/token_tiles.h"
#include "kernels/linear.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {

// after(tile) is called when the tile's y is there.
template <typename After>
void linear_forward_tiles(const LinearForward& a, const TokenTiles& tiles, const After& after) {
  Scratch scratch;
  const NormedInput input(a, tiles, scratch);
  const int64_t packed_stride = padded(a.out);
  const TileOutput output(a.dropout, tiles, a.out, a.residual, a.bias, a.y, scratch);
  const TileProduct product = TileProduct::of_weight(
      tiles, a.out, a.in, {input.stride(), packed_stride, a.out}, output.form());
  const RightWeight weight(product, a.weight, a.out, a.in, packed_stride, scratch);
#pragma omp parallel num_threads(tiles.threads())
  {
    const float* right = weight.shared();
    const int thread = omp_get_thread_num();
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < tiles.count(); ++tile) {
      const float* n = input.forward(tile, thread, a.eps, a.mean, a.rstd);
      product(tiles.rows(tile), n, right, output.start(tile, thread));
      output.finish(tile, thread);
      after(tile);
    }
  }
}

// What a tile's backward pass starts from: its rows of dy, and of what is added to its dx, or null.
struct TileGradients {
  const float* dy;
  const float* straight;
};

// gradients_of(tile) gives the tile's TileGradients, in place of a.dy and a.straight; `adds` says
// whether there is anything to add.
template <typename GradientsOf>
void linear_backward_tiles(const LinearBackward& a, const TokenTiles& tiles, bool adds,
                           const GradientsOf& gradients_of) {
  enum Sum { kWeight, kBias, kNormWeight, kNormBias };
  Scratch scratch;
  ThreadGradients gradients;
  gradients.add(kWeight, a.dweight, a.out * a.in);
  gradients.add(kBias, a.dbias, a.out);
  gradients.add(kNormWeight, a.dnorm_weight, a.in);
  gradients.add(kNormBias, a.dnorm_bias, a.in);
  gradients.allocate(scratch, tiles.threads());
  const NormedInput input(a, tiles, scratch);
  const DroppedGradient dropped(a.dropout, tiles, a.out, scratch);
  const InputGradient<LinearBackward> input_gradient(a, tiles, a.out, a.out, adds, scratch);
  const TileProduct weight_gradient =
      TileProduct::over_rows(tiles, a.out, a.in, {a.out, input.stride(), a.in});
#pragma omp parallel num_threads(tiles.threads())
  {
    const int thread = omp_get_thread_num();
    const ThreadGradients::Sums sums = gradients.start(thread);
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < tiles.count(); ++tile) {
      const int64_t rows = tiles.rows(tile);
      const auto [given, straight] = gradients_of(tile);
      const float* dy = dropped(tile, thread, given);
      if (a.dbias != nullptr) add_rows(rows, a.out, dy, a.out, sums[kBias]);
      if (a.dweight != nullptr) {
        weight_gradient(rows, dy, input.again(tile, thread, a.mean, a.rstd), sums[kWeight]);
      }
      input_gradient(tile, thread, dy, a.weight, straight, sums[kNormWeight], sums[kNormBias]);
    }
    gradients.shared_reduce();
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
