// Operators on streams: a token's D numbers seen as an n×d matrix, multiplied from the left.
#pragma once

#include "edelta/ops/linear.h"
#include "edelta/torch.h"

namespace edelta::ops {

// y = G x for x [B, T, n·d] and one operator a sequence, G [B, 1, n, n], or a token, [B, T, n, n].
torch::Tensor stream_mix(const torch::Tensor& g, const torch::Tensor& x);

// The same with a straight-through gradient: y = G_forward x, while the backward pass is that of
// y = G_backward x.
torch::Tensor stream_mix(const torch::Tensor& g_forward, const torch::Tensor& g_backward,
                         const torch::Tensor& x);

// y = Σ_i w_i x_i: the streams of x [B, T, n·d] weighted by w [B, T, n] → [B, T, d]; with x passed
// on.
WithInput stream_aggregate(const torch::Tensor& w, const torch::Tensor& x);

// x'_i = (H x)_i + w_i y_i for H [B, T, n, n] (undefined: the identity), w [B, T, n] and y, which
// is either [B, T, n·d] or one vector for all streams, [B, T, d].
torch::Tensor stream_update(const torch::Tensor& h, const torch::Tensor& x, const torch::Tensor& w,
                            const torch::Tensor& y);

}  // namespace edelta::ops
