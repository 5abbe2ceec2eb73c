#include "kernels/cached_attention.h"

#include <cmath>

#include "kernels/isa/parallel.h"
#include "kernels/isa/row_dots.h"
#include "kernels/isa/vector_exp.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// Keys and values that take longer to read than threads to meet.
constexpr int64_t kWorthThreads = int64_t{1} << 18;

// p = exp(scale·(s − max s)) in place; returns Σ p.
float exponentials(float* s, int64_t count, float scale) {
  Lanes top = Lanes{} - __builtin_inff();
  for (int64_t j = 0; j < count; j += kLanes) {
    top = larger(top, load(s, j, count, -__builtin_inff()));
  }
  const float most = largest(top);
  Lanes total{};
  int64_t j = 0;
  for (; j + kLanes <= count; j += kLanes) {
    const Lanes p = vector_exp<Lanes>(scale * (load<Lanes>(s + j) - most));
    store(s + j, p);
    total += p;
  }
  float rest = 0;
  for (; j < count; ++j) {
    s[j] = vector_exp<float>(scale * (s[j] - most));
    rest += s[j];
  }
  return sum(total) + rest;
}

// out = factor·Σ_j p_j v_j for kVectors vectors of channels; two sums each, because one would wait
// for its own last addition.
template <int kVectors>
void add_values(const float* p, const float* v, int64_t stride, int64_t count, float factor,
                float* out) {
  Lanes even[kVectors] = {}, odd[kVectors] = {};
  int64_t j = 0;
  for (; j + 2 <= count; j += 2) {
    const float* v_j = v + j * stride;
    for (int c = 0; c < kVectors; ++c) {
      even[c] += p[j] * load<Lanes>(v_j + c * kLanes);
      odd[c] += p[j + 1] * load<Lanes>(v_j + stride + c * kLanes);
    }
  }
  for (int c = 0; c < kVectors; ++c) {
    if (j < count) even[c] += p[j] * load<Lanes>(v + j * stride + c * kLanes);
    store(out + c * kLanes, factor * (even[c] + odd[c]));
  }
}

void attend(const CachedAttention& a, int64_t sequence, int64_t head) {
  const int64_t size = a.head_size;
  const int64_t at = (sequence * a.heads + head) * a.capacity * size;
  const float* values = a.values + at;
  float* out = a.out + (sequence * a.heads + head) * size;
  Scratch scratch;
  float* p = scratch.floats(a.positions);
  row_dots(a.positions, 1, a.keys + at, a.query + sequence * a.stride + head * size, size, p,
           a.positions);
  const float factor = 1 / exponentials(p, a.positions, 1 / std::sqrt(static_cast<float>(size)));
  int64_t c = 0;
  for (; c + 4 * kLanes <= size; c += 4 * kLanes) {
    add_values<4>(p, values + c, size, a.positions, factor, out + c);
  }
  for (; c + kLanes <= size; c += kLanes) {
    add_values<1>(p, values + c, size, a.positions, factor, out + c);
  }
  for (; c < size; ++c) {
    float total = 0;
    for (int64_t j = 0; j < a.positions; ++j) total += p[j] * values[j * size + c];
    out[c] = factor * total;
  }
}

}  // namespace

void cached_attention(const CachedAttention& a) {
  const int64_t all = a.sequences * a.heads;
  if (2 * all * a.positions * a.head_size < kWorthThreads) {
    for (int64_t i = 0; i < all; ++i) attend(a, i / a.heads, i % a.heads);
    return;
  }
  in_parallel(all, [&](int64_t i) { attend(a, i / a.heads, i % a.heads); });
}

}  // namespace edelta::kernels::EDELTA_ISA
