// JPmHC's weights into and out of the sub-layer, from each token's logits.
#pragma once

#include <cstdint>

#include "kernels/token_operator.h"

namespace edelta::kernels {

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
