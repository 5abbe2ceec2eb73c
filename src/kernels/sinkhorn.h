// mHC's mixer of streams, from each token's logits.
#pragma once

#include <cstdint>

#include "kernels/token_operator.h"

namespace edelta::kernels {

// exp(Z), then `iterations` ≥ 1 times: rows /= (row sum + 1e-8), columns /= (column sum + 1e-8).
struct SinkhornForward {
  TokenOperatorShape shape;
  int64_t iterations = 20;
  const float* z;  // n×n of each token, strided
  float* h;        // [N, n, n]
};

struct SinkhornBackward {
  TokenOperatorShape shape;
  int64_t iterations = 20;
  const float* z;   // n×n of each token, strided
  const float* dh;  // [N, n, n]
  float* dz;        // n×n of each token, strided, overwritten
};

void sinkhorn_forward(const SinkhornForward& arguments);
void sinkhorn_backward(const SinkhornBackward& arguments);

}  // namespace edelta::kernels
