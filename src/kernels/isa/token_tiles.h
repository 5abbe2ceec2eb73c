// How the fused kernels cut their tokens: into tiles small enough that all that happens to a tile
// stays in a core's L2 cache, large enough that the matrix products run at full speed.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace edelta::kernels::EDELTA_ISA {

// The distance between rows of a scratch matrix with n columns: whole cache lines, and no multiple
// of 512 bytes, at which the rows would compete for few sets of the L1 cache.
static inline int64_t padded(int64_t n) {
  const int64_t lines = (n + 15) / 16 * 16;
  return lines % 128 == 0 ? lines + 16 : lines;
}

// The rows of a tile beside weights of so many floats. Weights that no cache of a core holds, and
// their gradients, come from memory once a tile: fewer, larger tiles are then worth more than a
// tile that stays in L2.
static inline int64_t tile_rows(int64_t weights) {
  constexpr int64_t kCached = 1 << 20;
  return weights <= kCached ? 96 : 256;
}

class TokenTiles {
 public:
  // Tiles of at most `largest` rows, equally many for each thread as far as the tokens allow.
  // `work`: the multiply-adds of a token; with little of it, more threads would only wait.
  TokenTiles(int64_t tokens, int64_t largest, int64_t work) : tokens_(tokens) {
    const int64_t useful = std::min(tokens, tokens * work / kLeastWork);
    const int64_t threads = std::max<int64_t>(std::min<int64_t>(omp_get_max_threads(), useful), 1);
    const int64_t per_thread = ceil_divide(tokens, threads * largest);
    rows_ = ceil_divide(tokens, std::max<int64_t>(threads * per_thread, 1));
    rows_ = std::max<int64_t>(rows_, 1);
    count_ = ceil_divide(tokens, rows_);
    threads_ = static_cast<int>(std::clamp<int64_t>(count_, 1, threads));
  }

  int threads() const { return threads_; }
  int64_t count() const { return count_; }
  int64_t rows() const { return rows_; }  // of every tile but the last, which may have fewer
  int64_t last_rows() const { return tokens_ - (count_ - 1) * rows_; }
  int64_t first(int64_t tile) const { return tile * rows_; }
  int64_t rows(int64_t tile) const { return tile + 1 < count_ ? rows_ : last_rows(); }

 private:
  static constexpr int64_t kLeastWork = 1 << 17;  // per thread: what takes as long as starting one
  static int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

  int64_t tokens_, rows_, count_;
  int threads_;
};

}  // namespace edelta::kernels::EDELTA_ISA
