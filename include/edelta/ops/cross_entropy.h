// The loss of a token model with the linear map in front of it (specification 2), so that a fused
// version never has the logits of all tokens in memory.
#pragma once

#include "edelta/ops/linear.h"

namespace edelta::ops {

// A token with this target does not count.
constexpr int64_t kIgnoredTarget = -1;

// The mean of −log softmax(W LN(x) + b)[target] over the tokens that count, in nats; 0, with a
// gradient of 0, where none does. x [..., D], target [...] of int64. InputError for a target that
// is neither below the vocabulary's size nor ignored.
//
// The fused version computes the gradients in the forward pass, while it has the logits; the
// backward pass only scales them.
torch::Tensor cross_entropy(const torch::Tensor& x, const Norm& norm, const Affine& map,
                            const torch::Tensor& target);

// The same of every token, 0 where it does not count; without a gradient.
torch::Tensor token_losses(const torch::Tensor& x, const Norm& norm, const Affine& map,
                           const torch::Tensor& target);

}  // namespace edelta::ops
