// Softmax attention (specification 2).
#pragma once

#include "edelta/torch.h"

#include <cstdint>

namespace edelta::ops {

// Causal attention of h heads from qkv [B, T, 3·D] → [B, T, D]; `dropout` is the probability with
// which an attention weight is dropped.
torch::Tensor causal_attention(const torch::Tensor& qkv, int64_t heads, double dropout = 0);

}  // namespace edelta::ops
