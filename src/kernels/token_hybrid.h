// The EΔ operator of each token by itself, on x seen as n streams of width d, from what a net gives
// for the token: u, v [n], β', k' [D], γ' in a row, D = n·d.
//
//   y = γ Q X + (1 − γ)(x − 2(k·x)k),  γ = σ(γ'),  Q of u, v and β = softplus(β'),
//   k = (k' + 1e-8)/max(|k' + 1e-8|, 1e-12)
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct TokenHybridShape {
  int64_t tokens;   // N
  int64_t streams;  // n
  int64_t width;    // d

  int64_t channels() const { return streams * width; }
  int64_t parameters() const { return 2 * streams + 2 + channels(); }
};

struct TokenHybridForward {
  TokenHybridShape shape;
  const float* x;           // [N, D]
  const float* parameters;  // [N, 2n + 2 + D]
  float* y;                 // [N, D]
  float* gamma;             // [N]
};

struct TokenHybridBackward {
  TokenHybridShape shape;
  const float* x;
  const float* parameters;
  const float* dy;      // [N, D]
  const float* dgamma;  // [N] or null: where γ is used by itself
  float* dx;            // [N, D], overwritten
  float* dparameters;   // [N, 2n + 2 + D], overwritten
};

void token_hybrid_forward(const TokenHybridForward& arguments);
void token_hybrid_backward(const TokenHybridBackward& arguments);

}  // namespace edelta::kernels
