#include "kernels/delta.h"

#include "kernels/isa/lanes.h"
#include "kernels/isa/parallel.h"
#include "kernels/isa/slices.h"
#include "kernels/scratch.h"

namespace edelta::kernels::EDELTA_ISA {
namespace {

struct TwoDots {
  float x, y;
};

// k·x and k·y in one pass.
TwoDots dots(const float* k, const float* x, const float* y, int64_t width) {
  Lanes with_x{}, with_y{};
  for (int64_t i = 0; i < width; i += kLanes) {
    const Lanes k_i = load(k, i, width);
    with_x += k_i * load(x, i, width);
    with_y += k_i * load(y, i, width);
  }
  return {sum(with_x), sum(with_y)};
}

// The operator of a token, as an index into [B, operators].
int64_t operator_at(const DeltaShape& shape, int64_t sequence, int64_t token) {
  return sequence * shape.operators + (shape.operators == 1 ? 0 : token);
}

// dx = dy − β (k·dy) k, dk −= β ((k·dy) x + (k·x) dy); returns dβ = −(k·x)(k·dy).
float token_backward(const float* k, float beta, const float* x, const float* dy, int64_t width,
                     float* dx, float* dk) {
  const TwoDots along = dots(k, x, dy, width);
  const float by_x = beta * along.x, by_dy = beta * along.y;
#pragma omp simd
  for (int64_t c = 0; c < width; ++c) {
    dx[c] = dy[c] - by_dy * k[c];
    dk[c] -= by_dy * x[c] + by_x * dy[c];
  }
  return -along.x * along.y;
}

}  // namespace

void delta_forward(const DeltaForward& a) {
  const int64_t d = a.shape.width;
  in_parallel(a.shape.batch * a.shape.tokens, [&](int64_t item) {
    const int64_t at = item * d;
    const int64_t op = operator_at(a.shape, item / a.shape.tokens, item % a.shape.tokens);
    const float* k = a.k + op * d;
    const float* x = a.x + at;
    float* y = a.y + at;
    const float step = a.beta[op] * dots(k, x, x, d).x;
#pragma omp simd
    for (int64_t c = 0; c < d; ++c) y[c] = x[c] - step * k[c];
  });
}

// One operator for a whole sequence: every slice leaves its part of dk and dβ, then they are added
// in order.
void delta_backward(const DeltaBackward& a) {
  const int64_t d = a.shape.width;
  const int64_t slices = slice_count(a.shape.tokens);
  const bool in_parts = a.shape.operators == 1;
  Scratch scratch;
  float* dk_parts = in_parts ? scratch.floats(a.shape.batch * slices * d) : nullptr;
  float* dbeta_parts = in_parts ? scratch.floats(a.shape.batch * slices) : nullptr;
#pragma omp parallel
  {
#pragma omp for
    for (int64_t item = 0; item < a.shape.batch * slices; ++item) {
      const int64_t b = item / slices;
      const Slice slice(a.shape.tokens, item % slices);
      float dbeta = 0;
      for (int64_t t = slice.begin; t < slice.end; ++t) {
        const int64_t at = (b * a.shape.tokens + t) * d;
        const int64_t op = operator_at(a.shape, b, t);
        float* dk = in_parts ? dk_parts + item * d : a.dk + op * d;
        if (!in_parts || t == slice.begin) {
          for (int64_t c = 0; c < d; ++c) dk[c] = 0;
          dbeta = 0;
        }
        dbeta += token_backward(a.k + op * d, a.beta[op], a.x + at, a.dy + at, d, a.dx + at, dk);
        if (!in_parts) a.dbeta[op] = dbeta;
      }
      if (in_parts) dbeta_parts[item] = dbeta;
    }
    if (in_parts) {
#pragma omp for
      for (int64_t b = 0; b < a.shape.batch; ++b) {
        add_slices(dk_parts + b * slices * d, slices, d, 1, a.dk + b * d);
        add_slices(dbeta_parts + b * slices, slices, 1, 1, a.dbeta + b);
      }
    }
  }
}

}  // namespace edelta::kernels::EDELTA_ISA
