#include "models/connections/geometric_decoding.h"

#include "kernels/scratch.h"
#include "kernels/stream.h"

namespace edelta::models {

void GeometricDecoding::operator()(const nn::Stretch& stretch, const float* x, float* g) {
  kernels::Scratch scratch;
  const int64_t rows = stretch.rows();
  const float* pooled = pool_(stretch, x, scratch.floats(rows * width_));
  float* operators = scratch.floats(rows * n_ * n_);
  operator_(rows, pooled, operators);
  kernels::stream_mix_forward({{1, rows, rows, n_, width_ / n_}, x, operators, g});
}

}  // namespace edelta::models
