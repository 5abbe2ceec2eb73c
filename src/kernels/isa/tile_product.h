// Matrix products in which one dimension is the tokens of a tile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm.h"
#include "kernels/isa/token_tiles.h"

namespace edelta::kernels::EDELTA_ISA {

// One product for every tile, the shorter last one included. Wide results are made in blocks of
// columns, and long sums in parts, so that the block of B in use stays in L2, and its rows' pages
// in the TLB, while the rows of A pass over it.
class TileProduct {
 public:
  // C[rows×n] = A[rows×k]·B[k×n], or C += …
  static TileProduct of_rows(const TokenTiles& tiles, int64_t n, int64_t k, Gemm::Strides strides,
                             Gemm::C c) {
    const int64_t depth = std::min(k, kMostRowsOfB);
    const auto gemm = [&](int64_t rows, int64_t columns, int64_t sum, bool first) {
      return Gemm(rows, columns, sum, strides, Gemm::A::plain, first ? c : Gemm::C::accumulate);
    };
    return TileProduct(tiles, n, column_block(n, depth), k, depth, strides.b, gemm);
  }

  // C[m×n] += A[rows×m]ᵀ·B[rows×n]: what a tile adds to the gradient of a weight.
  static TileProduct over_rows(const TokenTiles& tiles, int64_t m, int64_t n,
                               Gemm::Strides strides) {
    const auto gemm = [&](int64_t rows, int64_t columns, int64_t, bool) {
      return Gemm(m, columns, rows, strides, Gemm::A::transposed, Gemm::C::accumulate);
    };
    return TileProduct(tiles, n, column_block(n, tiles.rows()), 1, 1, strides.b, gemm);
  }

  void operator()(int64_t rows, const float* a, const float* b, float* c) const {
    const Parts& parts = rows == rows_ ? whole_ : last_;
    for (int64_t column = 0; column < columns_; column += block_) {
      const bool full = column + block_ <= columns_;
      for (int64_t k = 0; k < sum_; k += depth_) {
        const Pair& gemm = k == 0 ? parts.first : k + depth_ <= sum_ ? parts.middle : parts.end;
        (full ? gemm.block : gemm.rest)(a + k, b + k * b_stride_ + column, c + column);
      }
    }
  }

 private:
  struct Pair {
    Gemm block, rest;
  };
  struct Parts {
    Pair first, middle, end;
  };

  template <typename MakeGemm>
  TileProduct(const TokenTiles& tiles, int64_t n, int64_t block, int64_t sum, int64_t depth,
              int64_t b_stride, const MakeGemm& gemm)
      : rows_(tiles.rows()),
        columns_(n),
        block_(block),
        sum_(sum),
        depth_(depth),
        b_stride_(b_stride),
        whole_(parts(tiles.rows(), gemm)),
        last_(parts(tiles.last_rows(), gemm)) {}

  template <typename MakeGemm>
  Parts parts(int64_t rows, const MakeGemm& gemm) const {
    const auto pair = [&](int64_t depth, bool first) {
      return Pair{gemm(rows, block_, depth, first), gemm(rows, columns_ % block_, depth, first)};
    };
    return {pair(depth_, true), pair(depth_, false), pair(sum_ % depth_, false)};
  }

  static constexpr int64_t kMostRowsOfB = 512;
  static int64_t column_block(int64_t n, int64_t k) {
    constexpr int64_t kBlockFloats = 64 * 1024;
    return std::min(n, std::max<int64_t>(kBlockFloats / k / 64 * 64, 64));
  }

  int64_t rows_, columns_, block_;
  int64_t sum_, depth_, b_stride_;
  Parts whole_, last_;
};

}  // namespace edelta::kernels::EDELTA_ISA
