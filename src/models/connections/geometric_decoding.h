// The residual operator G_γ of both EΔ models for decoding: pool, generate, blend, mix.
#pragma once

#include <cstdint>

#include "geometry/operator_decoding.h"
#include "nn/row_pool.h"

namespace edelta::models {

class GeometricDecoding {
 public:
  GeometricDecoding(geometry::OperatorDecoding make_operator, nn::RowPool pool, int64_t streams,
                    int64_t width)
      : operator_(std::move(make_operator)), pool_(std::move(pool)), n_(streams), width_(width) {}

  // G_γ(x) of every row, to g [rows, D].
  void operator()(const nn::Stretch& stretch, const float* x, float* g);

 private:
  geometry::OperatorDecoding operator_;
  nn::RowPool pool_;
  int64_t n_, width_;
};

}  // namespace edelta::models
