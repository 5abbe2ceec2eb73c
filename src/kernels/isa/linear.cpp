#include "kernels/linear.h"

#include "kernels/isa/linear_tiles.h"

namespace edelta::kernels::EDELTA_ISA {

void linear_forward(const LinearForward& a) {
  const TokenTiles tiles(a.tokens, tile_rows(a.in * a.out), a.in * a.out);
  linear_forward_tiles(a, tiles, [](int64_t /*tile*/) {});
}

void linear_backward(const LinearBackward& a) {
  const TokenTiles tiles(a.tokens, tile_rows(a.in * a.out), a.in * a.out);
  linear_backward_tiles(a, tiles, a.straight != nullptr, [&](int64_t tile) {
    const int64_t first = tiles.first(tile);
    return TileGradients{a.dy + first * a.out, at_or_null(a.straight, first * a.in)};
  });
}

}  // namespace edelta::kernels::EDELTA_ISA
