// The linear layer and the MLP for a few tokens at a time, as decoding meets them: no tile of
// tokens is worth a packed copy of the weights, so these go by once, as they lie in memory.
#pragma once

#include "kernels/linear.h"
#include "kernels/mlp.h"

namespace edelta::kernels {

// From this many tokens on, the kernels for tiles of tokens are faster.
constexpr int64_t kFewRows = 16;

// As linear_forward and mlp_forward, without what they save for a backward pass.
void linear_few_rows(const LinearForward& arguments);
void mlp_few_rows(const MlpForward& arguments);

}  // namespace edelta::kernels
