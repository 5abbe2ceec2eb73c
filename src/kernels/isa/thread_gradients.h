// Sums over all tokens, the same for every run with the same number of threads: each thread adds up
// its own tiles in memory of its own, the first one in the gradient itself, and the threads' sums
// are then added to that in a fixed order.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {

class ThreadGradients {
 public:
  // One thread's sums, by index; null for a gradient that isn't wanted.
  class Sums {
   public:
    float* operator[](int index) const {
      const Piece& piece = all_.pieces_[index];
      return piece.gradient == nullptr || memory_ == nullptr ? piece.gradient
                                                             : memory_ + piece.offset;
    }

   private:
    friend class ThreadGradients;
    Sums(const ThreadGradients& all, float* memory) : all_(all), memory_(memory) {}
    const ThreadGradients& all_;
    float* memory_;  // null: the gradients themselves
  };

  // Before the parallel region: the gradients with their number of floats (null: not wanted), then
  // the memory for all threads.
  void add(int index, float* gradient, int64_t count) {
    if (gradient == nullptr) return;
    pieces_[index] = {gradient, count, size_};
    size_ += (count + 15) / 16 * 16;
  }
  void allocate(Scratch& scratch, int threads) { memory_ = scratch.floats((threads - 1) * size_); }

  // First thing in the region, by each thread.
  Sums start(int thread) const {
    if (thread == 0) {
      for (const Piece& piece : pieces_) {
        if (piece.count > 0) std::memset(piece.gradient, 0, piece.count * sizeof(float));
      }
      return Sums(*this, nullptr);
    }
    float* mine = memory_ + (thread - 1) * size_;
    std::memset(mine, 0, size_ * sizeof(float));
    return Sums(*this, mine);
  }

  // Last thing in the region, after a barrier, by all threads together.
  void shared_reduce() const { shared_reduce(omp_get_num_threads()); }
  // The same where the sums are those of so many parts, whoever started them.
  void shared_reduce(int threads) const {
    if (threads == 1) return;
    for (const Piece& piece : pieces_) {
#pragma omp for schedule(static) nowait
      for (int64_t first = 0; first < piece.count; first += kChunk) {
        reduce(piece, first, std::min(kChunk, piece.count - first), threads);
      }
    }
  }

 private:
  struct Piece {
    float* gradient = nullptr;
    int64_t count = 0;
    int64_t offset = 0;  // of its sum in each thread's memory
  };

  void reduce(const Piece& piece, int64_t first, int64_t count, int threads) const {
    float* out = piece.gradient + first;
    for (int thread = 1; thread < threads; ++thread) {
      const float* more = memory_ + (thread - 1) * size_ + piece.offset + first;
#pragma omp simd
      for (int64_t i = 0; i < count; ++i) out[i] += more[i];
    }
  }

  static constexpr int kMost = 8;
  static constexpr int64_t kChunk = 1024;
  Piece pieces_[kMost];
  int64_t size_ = 0;
  float* memory_ = nullptr;
};

}  // namespace edelta::kernels::EDELTA_ISA
