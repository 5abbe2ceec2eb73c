// The hybrid operator for decoding: from x̄ to the matrix G, on rows in plain memory.
#pragma once

#include <cstdint>
#include <memory>

#include "edelta/geometry/hybrid.h"

namespace edelta::geometry {

class OperatorDecoding {
 public:
  OperatorDecoding(std::unique_ptr<GeneratorDecoding> generator, int64_t streams, Branch branch,
                   Blend blend, ScalarField field);

  // x̄ [rows, D] → G [rows, n, n].
  void operator()(int64_t rows, const float* pooled, float* g) const;

 private:
  std::unique_ptr<GeneratorDecoding> generator_;
  int64_t n_;
  Branch branch_;
  Blend blend_;
  ScalarField field_;
};

}  // namespace edelta::geometry
