#include "kernels/few_rows.h"

#include "kernels/isa/layer_norm.h"
#include "kernels/isa/parallel.h"
#include "kernels/isa/row_dots.h"
#include "kernels/isa/vector_math.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

// Weights that take longer to read than threads to meet.
constexpr int64_t kWorthThreads = int64_t{1} << 18;
// A thread's part: rows of the weights whose products stay together.
constexpr int64_t kPartRows = 64;

// The rows as the product sees them: normalised in scratch memory, or where they are.
template <class Arguments>
const float* normalised(const Arguments& a, bool rms, Scratch& scratch) {
  if (a.norm_weight == nullptr) return a.x;
  const LayerNorm norm{a.in, a.norm_weight, a.norm_bias, rms};
  float* y = scratch.floats(a.tokens * a.in);
  for (int64_t t = 0; t < a.tokens; ++t) {
    const float* x = a.x + t * a.in;
    normalize(norm, x, moments(norm, x, a.eps), y + t * a.in);
  }
  return y;
}

// Calls finish(t·out, first, count) for every token t for parts of the outputs, when dots [tokens,
// out] has the products of the rows x with those of the weight in that part.
template <class Finish>
void multiply(int64_t tokens, int64_t in, int64_t out, const float* x, const float* weight,
              float* dots, const Finish& finish) {
  const auto part = [&](int64_t first, int64_t count) {
    row_dots(count, tokens, weight + first * in, x, in, dots + first, out);
    for (int64_t t = 0; t < tokens; ++t) finish(t * out, first, count);
  };
  if (in * out < kWorthThreads) return part(0, out);
  in_parallel((out + kPartRows - 1) / kPartRows, [&](int64_t i) {
    const int64_t first = i * kPartRows;
    part(first, first + kPartRows < out ? kPartRows : out - first);
  });
}

// y = [residual +] dots + bias, where y and residual may be the same.
auto add_to_residual(const float* dots, const float* bias, const float* residual, float* y) {
  return [=](int64_t row, int64_t first, int64_t count) {
    for (int64_t o = first; o < first + count; ++o) {
      const float start = residual == nullptr ? 0 : residual[row + o];
      y[row + o] = start + (dots[row + o] + (bias == nullptr ? 0 : bias[o]));
    }
  };
}

}  // namespace

void linear_few_rows(const LinearForward& a) {
  Scratch scratch;
  const float* x = normalised(a, a.rms, scratch);
  float* dots = scratch.floats(a.tokens * a.out);
  multiply(a.tokens, a.in, a.out, x, a.weight, dots,
           add_to_residual(dots, a.bias, a.residual, a.y));
}

void mlp_few_rows(const MlpForward& a) {
  Scratch scratch;
  const float* x = normalised(a, /*rms=*/false, scratch);
  float* h = scratch.floats(a.tokens * a.hidden);
  multiply(a.tokens, a.in, a.hidden, x, a.fc_weight, h,
           [&](int64_t row, int64_t first, int64_t count) {
             float* z = h + row;
             if (a.fc_bias != nullptr) {
#pragma omp simd
               for (int64_t o = first; o < first + count; ++o) z[o] += a.fc_bias[o];
             }
#pragma omp simd
             for (int64_t o = first; o < first + count; ++o) z[o] = gelu(z[o]);
           });
  float* dots = scratch.floats(a.tokens * a.out);
  multiply(a.tokens, a.hidden, a.out, h, a.proj_weight, dots,
           add_to_residual(dots, a.proj_bias, a.residual, a.y));
}

}  // namespace edelta::kernels::EDELTA_ISA
