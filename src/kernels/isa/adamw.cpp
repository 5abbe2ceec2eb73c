#include "kernels/adamw.h"

#include <omp.h>

#include <algorithm>
#include <cmath>

#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// The unit of sharing among threads; no chunk spans two segments.
constexpr int64_t kChunk = 4096;

int64_t chunks(const ParameterSegment& segment) { return (segment.count + kChunk - 1) / kChunk; }

int64_t chunks(const ParameterSegment* segments, int64_t segment_count) {
  int64_t sum = 0;
  for (int64_t s = 0; s < segment_count; ++s) sum += chunks(segments[s]);
  return sum;
}

// Calls act(segment, first element, count, chunk) for all chunks, which are numbered through all
// segments; each thread takes a run of them.
template <typename Act>
void for_all_chunks(const ParameterSegment* segments, int64_t segment_count, const Act& act) {
  const int64_t all = chunks(segments, segment_count);
#pragma omp parallel
  {
    const int64_t begin = all * omp_get_thread_num() / omp_get_num_threads();
    const int64_t end = all * (omp_get_thread_num() + 1) / omp_get_num_threads();
    int64_t before = 0;
    for (int64_t s = 0; s < segment_count; ++s) {
      const int64_t here = chunks(segments[s]);
      const int64_t stop = std::min(before + here, end);
      for (int64_t chunk = std::max(before, begin); chunk < stop; ++chunk) {
        const int64_t first = (chunk - before) * kChunk;
        act(segments[s], first, std::min(kChunk, segments[s].count - first), chunk);
      }
      before += here;
    }
  }
}

// atan2(y, x) for x ≥ 0, within 2 units in the last place; 0 at the origin. The ratio of the
// smaller to the larger is brought below tan(π/8) by the angle π/4, before the one division.
inline float angle_of(float y, float x) {
  constexpr float kTanOfEighth = 0.414213562F, kQuarter = 0.785398163F, kHalf = 1.57079633F;
  const float height = std::fabs(y);
  const float low = height < x ? height : x, high = height < x ? x : height;
  const bool turned = low > kTanOfEighth * high;
  const float numerator = turned ? low - high : low;
  const float denominator = turned ? low + high : high;
  const float r = numerator / (denominator > 0 ? denominator : 1.0F);
  const float z = r * r;
  float p = 8.05374449538e-2F * z - 1.38776856032e-1F;
  p = p * z + 1.99777106478e-1F;
  p = p * z - 3.33329491539e-1F;
  const float small = (turned ? kQuarter : 0.0F) + (p * z * r + r);
  return std::copysign(height < x ? small : kHalf - small, y) * (high > 0 ? 1.0F : 0.0F);
}

template <bool kAngle>
void update(const AdamWStep& a, const ParameterSegment& segment, int64_t first, int64_t count) {
  const auto keep = static_cast<float>(1 - a.learning_rate * segment.weight_decay);
  const auto beta1 = static_cast<float>(a.beta1);
  const auto beta2 = static_cast<float>(a.beta2);
  const auto rest1 = static_cast<float>(1 - a.beta1);
  const auto rest2 = static_cast<float>(1 - a.beta2);
  const auto eps = static_cast<float>(a.eps);
  const auto step = static_cast<float>(a.learning_rate / a.bias_correction1);
  const auto root_scale = static_cast<float>(1 / std::sqrt(a.bias_correction2));
  const auto scale = static_cast<float>(a.gradient_scale);
  float* p = segment.parameter + first;
  const float* gradient = segment.gradient + first;
  float* m = segment.first_moment + first;
  float* v = segment.second_moment + first;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * scale;
    m[i] = beta1 * m[i] + rest1 * g;
    v[i] = beta2 * v[i] + rest2 * g * g;
    const float deviation = std::sqrt(v[i]) * root_scale;
    if constexpr (kAngle) {
      p[i] = p[i] * keep - step * angle_of(m[i], deviation);
    } else {
      p[i] = p[i] * keep - step * m[i] / (deviation + eps);
    }
  }
  if (segment.mean == nullptr) return;
  const auto rest = static_cast<float>(1 - a.mean_rate);
  float* mean = segment.mean + first;
#pragma omp simd
  for (int64_t i = 0; i < count; ++i) mean[i] += rest * (p[i] - mean[i]);
}

double sum_of_squares(const float* x, int64_t count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < count; ++i) sum += static_cast<double>(x[i]) * x[i];
  return sum;
}

}  // namespace

void adamw_step(const AdamWStep& a) {
  for_all_chunks(
      a.segments, a.segment_count,
      [&](const ParameterSegment& segment, int64_t first, int64_t count, int64_t /*chunk*/) {
        a.angle ? update<true>(a, segment, first, count) : update<false>(a, segment, first, count);
      });
}

void squared_norm(const SquaredNorm& a) {
  Scratch scratch;
  auto* sums = reinterpret_cast<double*>(scratch.floats(2 * chunks(a.segments, a.segment_count)));
  for_all_chunks(a.segments, a.segment_count,
                 [&](const ParameterSegment& segment, int64_t first, int64_t count, int64_t chunk) {
                   sums[chunk] = sum_of_squares(segment.gradient + first, count);
                 });
  *a.total = 0;
  for (int64_t s = 0; s < a.segment_count; ++s) {
    double sum = 0;
    for (int64_t chunk = 0; chunk < chunks(a.segments[s]); ++chunk) sum += *sums++;
    if (a.per_segment != nullptr) a.per_segment[s] = sum;
    *a.total += sum;
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
