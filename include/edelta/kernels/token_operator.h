// Operators on streams that every token computes from its own logits.
//
// The logits of a token usually lie side by side in one row of a matrix product's output, hence the
// strides: `z` points to the first token's n×n logits, the next token's are `stride` floats on.
#pragma once

#include <cstdint>

namespace edelta::kernels {

struct TokenOperatorShape {
  int64_t tokens;   // N
  int64_t streams;  // n
  int64_t stride;   // floats from one token's logits to the next one's, in z and dz; ≥ n²
};

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

// What remains of JPmHC's H_pre and H_post once the mean over streams is taken before the sub-layer
// and its output repeated after it:
//   pre_j = (1/n) Σ_i softmax(Z_pre[i,:])_j        post_i = Σ_j softmax(Z_post[:,j])_i
struct MixerWeightsForward {
  TokenOperatorShape shape;
  const float* z_pre;   // n×n of each token, strided
  const float* z_post;  // n×n of each token, strided
  float* pre;           // [N, n]
  float* post;          // [N, n]
};

struct MixerWeightsBackward {
  TokenOperatorShape shape;
  const float* z_pre;   // n×n of each token, strided
  const float* z_post;  // n×n of each token, strided
  const float* dpre;    // [N, n]
  const float* dpost;   // [N, n]
  float* dz_pre;        // n×n of each token, strided, overwritten
  float* dz_post;       // n×n of each token, strided, overwritten
};

void mixer_weights_forward(const MixerWeightsForward& arguments);
void mixer_weights_backward(const MixerWeightsBackward& arguments);

}  // namespace edelta::kernels
