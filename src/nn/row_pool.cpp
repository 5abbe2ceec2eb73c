#include "nn/row_pool.h"

#include <algorithm>

namespace edelta::nn {

RowPool::RowPool(ops::Pool pool, int64_t width, const DecodingRoom& room)
    : width_(width), sums_(pool == ops::Pool::prefix ? room.sequences * width : 0) {}

const float* RowPool::operator()(const Stretch& stretch, const float* x, float* memory) {
  if (sums_.empty()) return x;
  for (int64_t s = 0; s < stretch.sequences; ++s) {
    double* sum = sums_.data() + (stretch.sequence + s) * width_;
    if (stretch.begin == 0) std::fill_n(sum, width_, 0.0);
    for (int64_t t = 0; t < stretch.length; ++t) {
      const int64_t at = (s * stretch.length + t) * width_;
      const double share = 1 / static_cast<double>(stretch.begin + t + 1);
      for (int64_t c = 0; c < width_; ++c) {
        sum[c] += x[at + c];
        memory[at + c] = static_cast<float>(sum[c] * share);
      }
    }
  }
  return memory;
}

}  // namespace edelta::nn
