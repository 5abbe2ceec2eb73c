// What an operator looks at while decoding (specification 1.4): the token itself, or the mean over
// the positions so far, from a running sum for each sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "edelta/nn/decoding.h"
#include "edelta/ops/pooling.h"

namespace edelta::nn {

class RowPool {
 public:
  // The mean over a whole sequence does not exist before its end: where an operator looks at
  // nothing, it may be given any row.
  RowPool(ops::Pool pool, int64_t width, const DecodingRoom& room);

  // x̄ of every row: x itself, or `memory` of as many floats.
  const float* operator()(const Stretch& stretch, const float* x, float* memory);

 private:
  int64_t width_;
  std::vector<double> sums_;  // [sequences, D]; none for pool token
};

}  // namespace edelta::nn
