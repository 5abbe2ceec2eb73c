#include "kernels/dropout.h"

#include <omp.h>

#include "kernels/isa/dropped_tiles.h"

namespace edelta::kernels::EDELTA_ISA {

void drop_rows(const DropRows& a) {
  constexpr int64_t kTileRows = 96;
  // Drawing a factor takes about as long as this many multiply-adds.
  constexpr int64_t kWork = 8;
  const TokenTiles tiles(a.tokens, kTileRows, kWork * a.width);
  Scratch scratch;
  float* memory = scratch.floats(tiles.threads() * factor_floats(a.width));
#pragma omp parallel num_threads(tiles.threads())
  {
    float* factors = memory + omp_get_thread_num() * factor_floats(a.width);
#pragma omp for schedule(static)
    for (int64_t tile = 0; tile < tiles.count(); ++tile) {
      const int64_t first = tiles.first(tile);
      for_dropped_rows(a.dropout, first, tiles.rows(tile), a.width, factors,
                       [&](int64_t r, const float* of_row) {
                         const int64_t at = (first + r) * a.width;
#pragma omp simd
                         for (int64_t i = 0; i < a.width; ++i)
                           a.y[at + i] = of_row[i] * a.x[at + i];
                       });
    }
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
