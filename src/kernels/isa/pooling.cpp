#include "kernels/pooling.h"

#include <algorithm>

#include "kernels/isa/slices.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {

// Every slice of tokens is summed by itself, then the slices' sums in order: the same result
// whatever the threads, and rounding errors that grow with the slice, not with the sequence.
void sequence_mean_forward(const SequenceMeanForward& a) {
  const int64_t slices = slice_count(a.tokens);
  const float factor = 1 / static_cast<float>(a.tokens);
  Scratch scratch;
  float* parts = scratch.floats(a.batch * slices * a.width);
#pragma omp parallel
  {
#pragma omp for
    for (int64_t item = 0; item < a.batch * slices; ++item) {
      const Slice slice(a.tokens, item % slices);
      const float* x = a.x + item / slices * a.tokens * a.width;
      float* part = parts + item * a.width;
      for (int64_t c = 0; c < a.width; ++c) part[c] = x[slice.begin * a.width + c];
      for (int64_t t = slice.begin + 1; t < slice.end; ++t) {
#pragma omp simd
        for (int64_t c = 0; c < a.width; ++c) part[c] += x[t * a.width + c];
      }
    }
#pragma omp for
    for (int64_t b = 0; b < a.batch; ++b) {
      add_slices(parts + b * slices * a.width, slices, a.width, factor, a.mean + b * a.width);
    }
  }
}

void sequence_mean_backward(const SequenceMeanBackward& a) {
  const int64_t slices = slice_count(a.tokens);
  const float factor = 1 / static_cast<float>(a.tokens);
#pragma omp parallel for
  for (int64_t item = 0; item < a.batch * slices; ++item) {
    const int64_t b = item / slices;
    const Slice slice(a.tokens, item % slices);
    const float* dmean = a.dmean + b * a.width;
    for (int64_t t = slice.begin; t < slice.end; ++t) {
      const int64_t at = (b * a.tokens + t) * a.width;
      float* dx = a.dx + at;
      if (a.straight == nullptr) {
#pragma omp simd
        for (int64_t c = 0; c < a.width; ++c) dx[c] = factor * dmean[c];
      } else {
        const float* straight = a.straight + at;
#pragma omp simd
        for (int64_t c = 0; c < a.width; ++c) dx[c] = straight[c] + factor * dmean[c];
      }
    }
  }
}

// Columns whose running sums are kept at once: a few registers full.
static constexpr int64_t kColumns = 64;

// A running sum in float32 would lose a digit every ten thousand positions.
void prefix_mean_forward(const PrefixMeanForward& a) {
  const int64_t chunks = (a.width + kColumns - 1) / kColumns;
#pragma omp parallel for
  for (int64_t item = 0; item < a.batch * chunks; ++item) {
    const int64_t first = item % chunks * kColumns, columns = std::min(kColumns, a.width - first);
    const int64_t begin = item / chunks * a.tokens * a.width + first;
    double sum[kColumns] = {};
    for (int64_t t = 0; t < a.tokens; ++t) {
      const float* x = a.x + begin + t * a.width;
      float* mean = a.mean + begin + t * a.width;
      const auto count = static_cast<double>(t + 1);
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c) {
        sum[c] += static_cast<double>(x[c]);
        mean[c] = static_cast<float>(sum[c] / count);
      }
    }
  }
}

void prefix_mean_backward(const PrefixMeanBackward& a) {
  const int64_t chunks = (a.width + kColumns - 1) / kColumns;
#pragma omp parallel for
  for (int64_t item = 0; item < a.batch * chunks; ++item) {
    const int64_t first = item % chunks * kColumns, columns = std::min(kColumns, a.width - first);
    const int64_t begin = item / chunks * a.tokens * a.width + first;
    double sum[kColumns] = {};
    for (int64_t t = a.tokens - 1; t >= 0; --t) {
      const float* dmean = a.dmean + begin + t * a.width;
      float* dx = a.dx + begin + t * a.width;
      const auto count = static_cast<double>(t + 1);
#pragma omp simd
      for (int64_t c = 0; c < columns; ++c) {
        sum[c] += static_cast<double>(dmean[c]) / count;
        dx[c] = static_cast<float>(sum[c]);
      }
    }
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
