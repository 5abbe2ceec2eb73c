// The fused versions of the ops: autograd functions over the kernels, for contiguous float32 on the
// CPU. ops/X.cpp has the composite version and asks the policy which of the two to take; its fused
// version is in ops/fused/X.cpp.
#pragma once

#include "edelta/ops/adamw.h"
#include "edelta/ops/dropout.h"
#include "edelta/ops/linear.h"
#include "edelta/ops/puzzle.h"
#include "edelta/ops/routing.h"
#include "edelta/ops/token_hybrid.h"
#include "edelta/torch.h"

namespace edelta::ops::fused {

torch::Tensor drop(const torch::Tensor& x, const Dropout& dropout);
torch::Tensor linear(const torch::Tensor& x, const Norm& norm, const Affine& map,
                     const torch::Tensor& residual, const Dropout& dropout);
WithInput linear_with_input(const torch::Tensor& x, const Norm& norm, const Affine& map);
torch::Tensor mlp(const torch::Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
                  const torch::Tensor& residual, const Dropout& dropout);
constexpr int64_t kLargestHead = 256;  // of attention
torch::Tensor causal_attention(const torch::Tensor& qkv, int64_t heads, const Dropout& dropout);
torch::Tensor whole_attention(const torch::Tensor& qkv, int64_t heads, const RotaryTables& rotary);

torch::Tensor rms_normalise(const torch::Tensor& x, double eps);
torch::Tensor swiglu(const torch::Tensor& x, const torch::Tensor& gate_up,
                     const torch::Tensor& down);
torch::Tensor normed_swiglu(const torch::Tensor& x, const torch::Tensor& gate_up,
                            const torch::Tensor& down, double eps);
torch::Tensor normed_swiglu_over_positions(const torch::Tensor& x, const torch::Tensor& gate_up,
                                           const torch::Tensor& down, double eps);

WithInput embedding(const torch::Tensor& token, const torch::Tensor& words,
                    const torch::Tensor& positions);
torch::Tensor cross_entropy(const torch::Tensor& x, const Norm& norm, const Affine& map,
                            const torch::Tensor& target);
torch::Tensor token_losses(const torch::Tensor& x, const Norm& norm, const Affine& map,
                           const torch::Tensor& target);

torch::Tensor stream_mix(const torch::Tensor& g_forward, const torch::Tensor& g_backward,
                         const torch::Tensor& x);
WithInput stream_aggregate(const torch::Tensor& w, const torch::Tensor& x);
// Who sends the gradient of H x back to H and x.
enum class MixGradient {
  own,      // the update
  of_route  // the backward pass of route, which takes x and this gradient from memory only once:
            // the update sends the gradient of H x back in place of that of x, and none to H
};
torch::Tensor stream_update(const torch::Tensor& h, const torch::Tensor& x, const torch::Tensor& w,
                            const torch::Tensor& y, MixGradient gradient = MixGradient::own);

torch::Tensor sinkhorn(const torch::Tensor& z, int64_t iterations);

Routed route(const torch::Tensor& x, const Norm& norm, const Affine& map, int64_t streams,
             const CayleyIteration& cayley);

WithInput sequence_mean(const torch::Tensor& x);
torch::Tensor prefix_mean(const torch::Tensor& x);
torch::Tensor hybrid_matrix(const torch::Tensor& u, const torch::Tensor& v,
                            const torch::Tensor& beta, const torch::Tensor& k,
                            const torch::Tensor& gamma);
TokenHybrid token_hybrid(const torch::Tensor& x, const torch::Tensor& parameters, int64_t streams);
torch::Tensor geodesic_matrix(const torch::Tensor& u, const torch::Tensor& v,
                              const torch::Tensor& beta, const torch::Tensor& k,
                              const torch::Tensor& gamma);
torch::Tensor unitary_matrix(const torch::Tensor& u, const torch::Tensor& v,
                             const torch::Tensor& beta, const torch::Tensor& k,
                             const torch::Tensor& gamma);
// `k` has length 1.
torch::Tensor delta(const torch::Tensor& k, const torch::Tensor& beta, const torch::Tensor& x);

void adamw_step(const std::vector<OptimisedTensor>& tensors, const AdamWStep& step);
double squared_norm(const std::vector<OptimisedTensor>& tensors);

}  // namespace edelta::ops::fused
