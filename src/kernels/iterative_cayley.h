// JPmHC's mixer of streams, from each token's logits.
#pragma once

#include <cstdint>

#include "kernels/token_operator.h"

namespace edelta::kernels {

// W = Z − Zᵀ, Y₀ = I + αW, then `iterations` times Y ← I + (α/2)·W·(I + Y).
struct IterativeCayleyForward {
  TokenOperatorShape shape;
  int64_t iterations = 2;
  float alpha = 0.1F;
  const float* z;  // n×n of each token, strided
  float* h;        // [N, n, n]
};

struct IterativeCayleyBackward {
  TokenOperatorShape shape;
  int64_t iterations = 2;
  float alpha = 0.1F;
  const float* z;   // n×n of each token, strided
  const float* dh;  // [N, n, n]
  float* dz;        // n×n of each token, strided, overwritten
};

void iterative_cayley_forward(const IterativeCayleyForward& arguments);
void iterative_cayley_backward(const IterativeCayleyBackward& arguments);

}  // namespace edelta::kernels
