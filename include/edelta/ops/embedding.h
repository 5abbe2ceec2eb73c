// Tokens as vectors (specification 2).
#pragma once

#include "edelta/ops/linear.h"

namespace edelta::ops {

// y = words[token] + positions[t]: token [B, T] of int64, words [V, D], positions [T or more, D].
// Passes `words` on, as the x of WithInput. A head whose weight is tied to them takes it from
// there: the gradients of the few words that were embedded are then added to the head's gradient in
// place, where a second gradient would be as large as the vocabulary. InputError for a token that
// is not below the vocabulary's size.
WithInput embedding(const torch::Tensor& token, const torch::Tensor& words,
                    const torch::Tensor& positions);

}  // namespace edelta::ops
