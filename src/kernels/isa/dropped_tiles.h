// Dropout on tiles of tokens: a token is the mask's column, a channel its row, so that the lanes of
// a vector lie along the channels.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/gemm.h"
#include "kernels/isa/dropout_factors.h"
#include "kernels/isa/rows.h"
#include "kernels/isa/token_tiles.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {

// Floats that for_dropped_rows needs for rows of n channels.
static inline int64_t factor_floats(int64_t n) { return kDropoutBlock * padded(n); }

// Calls body(r, factors of its n channels) for the tokens first + r, r < rows.
template <typename Body>
inline void for_dropped_rows(const DropoutMask& mask, int64_t first, int64_t rows, int64_t n,
                             float* memory, const Body& body) {
  const int64_t stride = padded(n);
  first += mask.first_column;
  for (int64_t block = first / kDropoutBlock; block * kDropoutBlock < first + rows; ++block) {
    const int64_t begin = block * kDropoutBlock;
    draw_factors(mask, 0, 0, n, block, memory, stride);
    const int64_t end = std::min(begin + kDropoutBlock, first + rows);
    for (int64_t t = std::max(begin, first); t < end; ++t) {
      body(t - first, memory + (t - begin) * stride);
    }
  }
}

// Where the last product of a tile goes: into y, on top of residual and bias; or, with dropout,
// into memory of the thread on top of the bias alone, because the mask comes before the residual.
class TileOutput {
 public:
  TileOutput(const DropoutMask& mask, const TokenTiles& tiles, int64_t n, const float* residual,
             const float* bias, float* y, Scratch& scratch)
      : mask_(mask), tiles_(tiles), n_(n), residual_(residual), bias_(bias), y_(y) {
    if (mask.drops()) memory_ = scratch.floats(tiles.threads() * thread_floats());
  }

  // How the product must treat the memory that start() gives.
  Gemm::C form() const { return starting_form(mask_.drops() ? nullptr : residual_, bias_); }

  float* start(int64_t tile, int thread) const {
    const int64_t at = tiles_.first(tile) * n_;
    float* to = mask_.drops() ? memory_ + thread * thread_floats() : y_ + at;
    start_rows(tiles_.rows(tile), n_, mask_.drops() ? nullptr : at_or_null(residual_, at), bias_,
               to);
    return to;
  }

  void finish(int64_t tile, int thread) const {
    if (!mask_.drops()) return;
    const float* product = memory_ + thread * thread_floats();
    const auto drop_row = [&](int64_t r, const float* factors) {
      const int64_t at = (tiles_.first(tile) + r) * n_;
      const float* from = product + r * n_;
      float* to = y_ + at;
      if (residual_ == nullptr) {
#pragma omp simd
        for (int64_t i = 0; i < n_; ++i) to[i] = factors[i] * from[i];
        return;
      }
      const float* straight = residual_ + at;
#pragma omp simd
      for (int64_t i = 0; i < n_; ++i) to[i] = straight[i] + factors[i] * from[i];
    };
    float* factors = memory_ + thread * thread_floats() + product_floats();
    for_dropped_rows(mask_, tiles_.first(tile), tiles_.rows(tile), n_, factors, drop_row);
  }

 private:
  int64_t product_floats() const { return (tiles_.rows() * n_ + 15) / 16 * 16; }
  int64_t thread_floats() const { return product_floats() + factor_floats(n_); }

  DropoutMask mask_;
  TokenTiles tiles_;
  int64_t n_;
  const float* residual_;
  const float* bias_;
  float* y_;
  float* memory_ = nullptr;  // for each thread a tile of the product, and factors
};

// The way back: a tile of dy as the last product sees it.
class DroppedGradient {
 public:
  DroppedGradient(const DropoutMask& mask, const TokenTiles& tiles, int64_t n, Scratch& scratch)
      : mask_(mask), tiles_(tiles), n_(n) {
    if (mask.drops()) memory_ = scratch.floats(tiles.threads() * thread_floats());
  }

  // `dy`: the tile's rows.
  const float* operator()(int64_t tile, int thread, const float* dy) const {
    if (!mask_.drops()) return dy;
    float* factors = memory_ + thread * thread_floats();
    float* dropped = factors + factor_floats(n_);
    const auto drop_row = [&](int64_t r, const float* of_row) {
#pragma omp simd
      for (int64_t i = 0; i < n_; ++i) dropped[r * n_ + i] = of_row[i] * dy[r * n_ + i];
    };
    for_dropped_rows(mask_, tiles_.first(tile), tiles_.rows(tile), n_, factors, drop_row);
    return dropped;
  }

 private:
  int64_t thread_floats() const { return factor_floats(n_) + (tiles_.rows() * n_ + 15) / 16 * 16; }

  DropoutMask mask_;
  TokenTiles tiles_;
  int64_t n_;
  float* memory_ = nullptr;  // for each thread factors, and a tile of the dropped gradient
};

}  // namespace edelta::kernels::EDELTA_ISA
