// The fused versions of the ops: autograd functions over edelta/kernels, for contiguous float32 on
// the CPU. The public functions of edelta/ops choose between these and their composite versions.
#pragma once

#include "edelta/ops/routing.h"
#include "edelta/ops/sublayers.h"
#include "edelta/torch.h"

namespace edelta::ops::fused {

torch::Tensor linear(const torch::Tensor& x, const Norm& norm, const Affine& map,
                     const torch::Tensor& residual);
WithInput linear_with_input(const torch::Tensor& x, const Norm& norm, const Affine& map);
torch::Tensor mlp(const torch::Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
                  const torch::Tensor& residual);
torch::Tensor causal_attention(const torch::Tensor& qkv, int64_t heads);

torch::Tensor stream_mix(const torch::Tensor& g_forward, const torch::Tensor& g_backward,
                         const torch::Tensor& x);
WithInput stream_aggregate(const torch::Tensor& w, const torch::Tensor& x);
torch::Tensor stream_update(const torch::Tensor& h, const torch::Tensor& x, const torch::Tensor& w,
                            const torch::Tensor& y);

torch::Tensor sinkhorn(const torch::Tensor& z, int64_t iterations);

Routed route(const torch::Tensor& x, const Norm& norm, const Affine& map, int64_t streams,
             const CayleyIteration& cayley);
torch::Tensor routed_update(const Routed& routed, const torch::Tensor& y);

WithInput sequence_mean(const torch::Tensor& x);
torch::Tensor hybrid_matrix(const torch::Tensor& u, const torch::Tensor& v,
                            const torch::Tensor& beta, const torch::Tensor& k,
                            const torch::Tensor& gamma);
// `k` has length 1.
torch::Tensor delta(const torch::Tensor& k, const torch::Tensor& beta, const torch::Tensor& x);

}  // namespace edelta::ops::fused
