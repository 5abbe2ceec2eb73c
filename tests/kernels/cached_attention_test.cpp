#include "kernels/cached_attention.h"

#include "kernels/layer_reference.h"

namespace edelta::kernels {
namespace {

using namespace testing_support;

// One head's answer in float64.
Doubles reference(const float* q, const float* k, const float* v, int64_t positions, int64_t size) {
  Doubles weights(positions), out(size);
  double total = 0;
  for (int64_t j = 0; j < positions; ++j) {
    double score = 0;
    for (int64_t c = 0; c < size; ++c) score += double{q[c]} * k[j * size + c];
    total += weights[j] = std::exp(score / std::sqrt(static_cast<double>(size)));
  }
  for (int64_t j = 0; j < positions; ++j) {
    for (int64_t c = 0; c < size; ++c) out[c] += weights[j] / total * v[j * size + c];
  }
  return out;
}

TEST(CachedAttention, IsItsDefinition) {
  constexpr int64_t kSequences = 3, kHeads = 2;
  for (const int64_t size : {1, 3, 8, 20, 32, 64, 75}) {
    for (const int64_t positions : {1, 2, 7, 33, 700}) {
      const int64_t capacity = positions + 5, stride = 3 * kHeads * size;
      const Floats q = random_floats(kSequences * stride, 1);
      const Floats k = random_floats(kSequences * kHeads * capacity * size, 2);
      const Floats v = random_floats(kSequences * kHeads * capacity * size, 3);
      Floats out = unset(kSequences * kHeads * size);
      cached_attention({kSequences, kHeads, size, positions, capacity, stride, pointer(q),
                        pointer(k), pointer(v), pointer(out)});
      Doubles expected;
      for (int64_t head = 0; head < kSequences * kHeads; ++head) {
        const int64_t at = head * capacity * size;
        const Doubles one = reference(pointer(q) + head / kHeads * stride + head % kHeads * size,
                                      pointer(k) + at, pointer(v) + at, positions, size);
        expected.insert(expected.end(), one.begin(), one.end());
      }
      expect_close(out, expected, 2e-5, "out");
    }
  }
}

}  // namespace
}  // namespace edelta::kernels
