// Matrix products in which one dimension is the tokens of a tile.
#pragma once

#include <cblas.h>

#include <algorithm>
#include <cstdint>

#include "kernels/gemm.h"
#include "kernels/isa/token_tiles.h"

namespace edelta::kernels::EDELTA_ISA {

// One product for every tile, the shorter last one included. Beside weights that stay in L2 it is
// code that libxsmm generates, for blocks of columns, so that the block of B in use stays in L2
// while the rows of A pass over it. Else it is OpenBLAS, which packs what it multiplies; called in
// a parallel region, it computes with the calling thread alone.
class TileProduct {
 public:
  // C[rows×n] = A[rows×k]·B[k×n], or C += …
  static TileProduct of_rows(const TokenTiles& tiles, int64_t n, int64_t k, Gemm::Strides strides,
                             Gemm::C c) {
    const Shape shape{CblasNoTrans, CblasNoTrans, n, k, strides, c};
    return of_rows(tiles, shape, n * k > kMostOfWeight);
  }

  // The same with B = Wᵀ, W[n×k]. W is taken as it is stored, or packed by the caller with rows of
  // `strides.b` floats: see takes_stored().
  static TileProduct of_weight(const TokenTiles& tiles, int64_t n, int64_t k, Gemm::Strides strides,
                               Gemm::C c) {
    const bool stored = n * k > kMostOfWeight;
    if (stored) strides.b = k;
    const Shape shape{CblasNoTrans, stored ? CblasTrans : CblasNoTrans, n, k, strides, c};
    return of_rows(tiles, shape, stored);
  }
  bool takes_stored() const { return shape_.b == CblasTrans; }

  // C[m×n] += A[rows×m]ᵀ·B[rows×n]: what a tile adds to the gradient of a weight.
  static TileProduct over_rows(const TokenTiles& tiles, int64_t m, int64_t n,
                               Gemm::Strides strides) {
    const auto gemm = [&](int64_t rows, int64_t columns) {
      return Gemm(m, columns, rows, strides, Gemm::A::transposed, Gemm::C::accumulate);
    };
    return TileProduct(tiles, {CblasTrans, CblasNoTrans, n, m, strides, Gemm::C::accumulate},
                       tiles.rows(), m * n > kMostOfGradient, gemm);
  }

  void operator()(int64_t rows, const float* a, const float* b, float* c) const {
    if (packs_) return multiply_packed(rows, a, b, c);
    const Blocks& blocks = rows == rows_ ? whole_ : last_;
    for (int64_t column = 0; column < shape_.n; column += block_) {
      const Gemm& gemm = column + block_ <= shape_.n ? blocks.block : blocks.rest;
      gemm(a, b + column, c + column);
    }
  }

 private:
  struct Shape {
    CBLAS_TRANSPOSE a, b;
    int64_t n, inner;  // columns, and the dimension that is not the tokens
    Gemm::Strides strides;
    Gemm::C c;
  };
  struct Blocks {
    Gemm block, rest;
  };

  static TileProduct of_rows(const TokenTiles& tiles, const Shape& shape, bool packs) {
    const auto gemm = [&](int64_t rows, int64_t columns) {
      return Gemm(rows, columns, shape.inner, shape.strides, Gemm::A::plain, shape.c);
    };
    return TileProduct(tiles, shape, shape.inner, packs, gemm);
  }

  // `b_rows`: those of B.
  template <typename MakeGemm>
  TileProduct(const TokenTiles& tiles, const Shape& shape, int64_t b_rows, bool packs,
              const MakeGemm& gemm)
      : rows_(tiles.rows()),
        block_(column_block(shape.n, b_rows)),
        shape_(shape),
        packs_(packs),
        whole_(blocks(tiles.rows(), gemm)),
        last_(blocks(tiles.last_rows(), gemm)) {}

  template <typename MakeGemm>
  Blocks blocks(int64_t rows, const MakeGemm& gemm) const {
    if (packs_) rows = 0;  // nothing is generated for no rows
    return {gemm(rows, block_), gemm(rows, shape_.n % block_)};
  }

  static int64_t column_block(int64_t n, int64_t k) {
    constexpr int64_t kBlockFloats = 64 * 1024;
    return std::min(n, std::max<int64_t>(kBlockFloats / k / 64 * 64, 64));
  }

  void multiply_packed(int64_t rows, const float* a, const float* b, float* c) const {
    const bool of_rows = shape_.a == CblasNoTrans;
    cblas_sgemm(CblasRowMajor, shape_.a, shape_.b, of_rows ? rows : shape_.inner, shape_.n,
                of_rows ? shape_.inner : rows, 1, a, shape_.strides.a, b, shape_.strides.b,
                shape_.c == Gemm::C::accumulate ? 1 : 0, c, shape_.strides.c);
  }

  // Floats of a weight, and of a weight's gradient, for which generated code is the faster one:
  // measured for AVX2 (weights of 64² to 3072·768, tiles of 96 and 256 rows); for AVX-512 the size
  // of the L2 cache.
#ifdef __AVX512F__
  static constexpr int64_t kMostOfWeight = 1 << 18, kMostOfGradient = 1 << 18;
#else
  static constexpr int64_t kMostOfWeight = 1 << 17, kMostOfGradient = 1 << 15;
#endif

  int64_t rows_, block_;
  Shape shape_;
  bool packs_;
  Blocks whole_, last_;
};

}  // namespace edelta::kernels::EDELTA_ISA
