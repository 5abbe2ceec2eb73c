// A model's last linear map with the loss behind it, −log softmax(LN?(x)·Wᵀ + b)[target], and its
// gradients in the same call: what is multiplied with the vocabulary is made once, and a matrix of
// all tokens × the vocabulary is never in memory.
#pragma once

#include <cstdint>

namespace edelta::kernels {

// A pointer that may be null is marked "or null": that part is then left out. Gradients are those
// of scale · Σ losses, overwritten, not accumulated; each may be null when it isn't wanted.
struct CrossEntropy {
  int64_t tokens = 0;
  int64_t in = 0;
  int64_t words = 0;                   // of the vocabulary
  const float* x = nullptr;            // [tokens, in]
  const float* norm_weight = nullptr;  // [in], or null: no layer norm
  const float* norm_bias = nullptr;    // [in] or null
  bool rms = false;                    // an RMS norm: the mean is not taken off
  float eps = 1e-5F;
  const float* weight = nullptr;    // [words, in]
  const float* bias = nullptr;      // [words] or null
  const int64_t* target = nullptr;  // [tokens], below `words`; negative: the token does not count
  float scale = 1;
  float* loss = nullptr;          // [tokens], 0 where the token does not count
  float* dx = nullptr;            // [tokens, in]
  float* dweight = nullptr;       // [words, in]
  float* dbias = nullptr;         // [words]
  float* dnorm_weight = nullptr;  // [in]
  float* dnorm_bias = nullptr;    // [in]
};

void cross_entropy(const CrossEntropy& arguments);

}  // namespace edelta::kernels
