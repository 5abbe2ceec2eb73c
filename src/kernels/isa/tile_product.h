// Matrix products in which one dimension is the tokens of a tile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm.h"
#include "kernels/isa/token_tiles.h"

namespace edelta::kernels::EDELTA_ISA {

// One product for every tile, the shorter last one included. Wide results are made in blocks of
// columns, so that the block of B in use stays in L2 while the rows of A pass over it.
class TileProduct {
 public:
  // C[rows×n] = A[rows×k]·B[k×n], or C += …
  static TileProduct of_rows(const TokenTiles& tiles, int64_t n, int64_t k, Gemm::Strides strides,
                             Gemm::C c) {
    const int64_t block = column_block(n, k);
    const auto gemm = [&](int64_t rows, int64_t columns) {
      return Gemm(rows, columns, k, strides, Gemm::A::plain, c);
    };
    return TileProduct(tiles, n, block, gemm);
  }

  // C[m×n] += A[rows×m]ᵀ·B[rows×n]: what a tile adds to the gradient of a weight.
  static TileProduct over_rows(const TokenTiles& tiles, int64_t m, int64_t n,
                               Gemm::Strides strides) {
    const int64_t block = column_block(n, tiles.rows());
    const auto gemm = [&](int64_t rows, int64_t columns) {
      return Gemm(m, columns, rows, strides, Gemm::A::transposed, Gemm::C::accumulate);
    };
    return TileProduct(tiles, n, block, gemm);
  }

  void operator()(int64_t rows, const float* a, const float* b, float* c) const {
    const Pair& gemm = rows == rows_ ? whole_ : last_;
    int64_t column = 0;
    for (; column + block_ <= columns_; column += block_) gemm.block(a, b + column, c + column);
    if (column < columns_) gemm.rest(a, b + column, c + column);
  }

 private:
  struct Pair {
    Gemm block, rest;
  };

  template <typename MakeGemm>
  TileProduct(const TokenTiles& tiles, int64_t n, int64_t block, const MakeGemm& gemm)
      : rows_(tiles.rows()),
        columns_(n),
        block_(block),
        whole_{gemm(tiles.rows(), block), gemm(tiles.rows(), n % block)},
        last_{gemm(tiles.last_rows(), block), gemm(tiles.last_rows(), n % block)} {}

  static int64_t column_block(int64_t n, int64_t k) {
    constexpr int64_t kBlockFloats = 64 * 1024;
    return std::min(n, std::max<int64_t>(kBlockFloats / k / 64 * 64, 64));
  }

  int64_t rows_, columns_, block_;
  Pair whole_, last_;
};

}  // namespace edelta::kernels::EDELTA_ISA
