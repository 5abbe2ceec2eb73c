// Wᵀ as the right operand of a tile's product.
#pragma once

#include <cstdint>

#include "kernels/isa/tile_product.h"
#include "kernels/isa/transpose.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {

// Packed once for all tiles, unless the product takes W[out×in] as it is stored.
class RightWeight {
 public:
  RightWeight(const TileProduct& product, const float* weight, int64_t out, int64_t in,
              int64_t stride, Scratch& scratch)
      : weight_(weight), out_(out), in_(in), stride_(stride) {
    if (!product.takes_stored()) packed_ = scratch.floats(in * stride);
  }

  // By all threads of a parallel region together.
  const float* shared() const {
    if (packed_ == nullptr) return weight_;
    shared_transpose(weight_, out_, in_, packed_, stride_);
    return packed_;
  }

 private:
  const float* weight_;
  int64_t out_, in_, stride_;
  float* packed_ = nullptr;
};

}  // namespace edelta::kernels::EDELTA_ISA
