// Softmax attention (specification 2).
#pragma once

#include "edelta/torch.h"

#include <cstdint>

#include "edelta/ops/dropout.h"

namespace edelta::ops {

// Causal attention of h heads from qkv [B, T, 3·D] → [B, T, D]; `dropout` is that of the attention
// weights.
torch::Tensor causal_attention(const torch::Tensor& qkv, int64_t heads,
                               const Dropout& dropout = {});

}  // namespace edelta::ops
