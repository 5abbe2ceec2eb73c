// The fused versions of the ops: autograd functions over edelta/kernels, for contiguous float32 on
// the CPU. The public functions of edelta/ops choose between these and their composite versions.
#pragma once

#include "edelta/ops/sublayers.h"
#include "edelta/torch.h"

namespace edelta::ops::fused {

torch::Tensor linear(const torch::Tensor& x, const Norm& norm, const Affine& map,
                     const torch::Tensor& residual);
torch::Tensor mlp(const torch::Tensor& x, const Norm& norm, const Affine& fc, const Affine& proj,
                  const torch::Tensor& residual);
torch::Tensor causal_attention(const torch::Tensor& qkv, int64_t heads);

torch::Tensor stream_mix(const torch::Tensor& g_forward, const torch::Tensor& g_backward,
                         const torch::Tensor& x);
torch::Tensor stream_aggregate(const torch::Tensor& w, const torch::Tensor& x);
torch::Tensor stream_update(const torch::Tensor& h, const torch::Tensor& x, const torch::Tensor& w,
                            const torch::Tensor& y);

torch::Tensor sinkhorn(const torch::Tensor& z, int64_t iterations);
torch::Tensor iterative_cayley(const torch::Tensor& z, double alpha, int64_t iterations);

// z_pre and z_post must have the same strides.
std::pair<torch::Tensor, torch::Tensor> mixer_weights(const torch::Tensor& z_pre,
                                                      const torch::Tensor& z_post);

}  // namespace edelta::ops::fused
