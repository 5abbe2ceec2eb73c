// How a connection with routing by token (JPmHC, streamed EΔ) reads its streams, in one sweep: the
// logits Z = LN(x)·Wᵀ + b of each token, the mixers that they make, and the aggregate of the
// streams that goes into the sub-layer.
#pragma once

#include <cstdint>

#include "kernels/linear.h"

namespace edelta::kernels {

struct RouteForward {
  // in = n·d. y is Z [N, matrices, n, n]: Z_pre and Z_post, then Z_res if there are three; there is
  // no residual.
  LinearForward logits;
  int64_t streams = 0;         // n
  int64_t iterations = 2;      // of the iterative Cayley transform, for H_res
  float alpha = 0.1F;          // likewise
  float* pre = nullptr;        // [N, n]
  float* post = nullptr;       // [N, n]
  float* h_res = nullptr;      // H_res [N, n, n], with three matrices
  float* aggregate = nullptr;  // [N, d]: Σ_j pre_j x_j
};

struct RouteBackward {
  LinearBackward logits;  // dy and straight are unused: they are made tile by tile
  int64_t streams = 0;
  int64_t iterations = 2;
  float alpha = 0.1F;
  const float* z = nullptr;           // [N, matrices, n, n]
  const float* pre = nullptr;         // [N, n]
  const float* h_res = nullptr;       // H_res [N, n, n], with three matrices
  const float* dpost = nullptr;       // [N, n]
  const float* daggregate = nullptr;  // [N, d]
  const float* dh_res = nullptr;      // [N, n, n] or null: where H_res is used by itself
  const float* dmixed = nullptr;      // [N, n, d]: the gradient of H_res x; of x, without H_res
};

void route_forward(const RouteForward& arguments);
void route_backward(const RouteBackward& arguments);

}  // namespace edelta::kernels
