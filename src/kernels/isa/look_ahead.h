// Work whose memory arrives while the work before it is done.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace edelta::kernels::EDELTA_ISA {

// Hands out items to threads as they become free, `together` neighbours at a time. A thread knows
// its next item when it starts one.
class WorkQueue {
 public:
  // `items` is a multiple of `together`.
  WorkQueue(int64_t items, int64_t together) : items_(items), together_(together) {}

  // Called by every thread of a parallel region: calls body(item, next item) until there are none
  // left. The last item is followed by itself.
  template <typename Body>
  void work(const Body& body) {
    for (int64_t item = take(), next = 0; item < items_; item = next) {
      next = (item + 1) % together_ == 0 ? take() : item + 1;
      body(item, next < items_ ? next : item);
    }
  }

 private:
  int64_t take() {
    int64_t first = 0;
#pragma omp atomic capture
    {
      first = taken_;
      taken_ += together_;
    }
    return first;
  }

  const int64_t items_, together_;
  int64_t taken_ = 0;
};

// Brings rows of tensors into a thread's cache, a line at a time: rows that are short pieces of a
// tensor's own, as a head's are, are not foreseen by the processor. Ask for a line now and then
// amid the computation: of many asked for at once, the processor drops those that it can't take.
class LookAhead {
 public:
  struct Rows {
    const float* first;
    int64_t stride;
  };

  LookAhead(int64_t rows, int64_t row_size) : rows_(rows), row_size_(row_size) {}

  // Starts anew, with these tensors one after the other.
  void aim(std::initializer_list<Rows> tensors) {
    count_ = 0;
    for (const Rows& tensor : tensors) tensors_[count_++] = tensor;
    tensor_ = row_ = column_ = 0;
  }

  void fetch_line() {
    if (tensor_ == count_) return;
    constexpr int64_t kLine = 16;
    const Rows& tensor = tensors_[tensor_];
    __builtin_prefetch(tensor.first + row_ * tensor.stride + column_);
    if ((column_ += kLine) < row_size_) return;
    column_ = 0;
    if (++row_ < rows_) return;
    row_ = 0;
    ++tensor_;
  }

 private:
  static constexpr int kMostTensors = 5;
  const int64_t rows_, row_size_;
  Rows tensors_[kMostTensors];
  int64_t count_ = 0, tensor_ = 0, row_ = 0, column_ = 0;
};

}  // namespace edelta::kernels::EDELTA_ISA
