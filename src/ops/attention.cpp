#include "edelta/ops/attention.h"

#include <cmath>
#include <limits>
#include <vector>

#include "edelta/ops/implementation.h"
#include "ops/fused/fused.h"
#include "ops/shapes.h"

namespace edelta::ops {

using torch::Tensor;

Tensor causal_attention(const Tensor& qkv, int64_t heads, const Dropout& dropout) {
  shapes::causal_attention(qkv, heads);
  const int64_t batch = qkv.size(0);
  const int64_t length = qkv.size(1);
  const int64_t width = qkv.size(2) / 3;
  if (width / heads <= fused::kLargestHead && use_fused({qkv})) {
    return fused::causal_attention(qkv, heads, dropout);
  }
  const auto split_heads = [&](const Tensor& part) {
    return part.reshape({batch, length, heads, width / heads}).transpose(1, 2);
  };
  const std::vector<Tensor> parts = qkv.split(width, -1);
  const Tensor q = split_heads(parts[0]);
  const Tensor k = split_heads(parts[1]);
  const Tensor v = split_heads(parts[2]);
  const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
  const Tensor future = torch::ones({length, length}, qkv.options().dtype(torch::kBool)).triu(1);
  Tensor attention = (q.matmul(k.transpose(-2, -1)) * scale)
                         .masked_fill(future, -std::numeric_limits<double>::infinity())
                         .softmax(-1);
  if (dropout.probability > 0) {
    const Tensor factors = dropout_factors(dropout, batch * heads, length, length,
                                           qkv.scalar_type(), dropout.first_sequence * heads);
    attention = attention * factors.view_as(attention).to(qkv.device());
  }
  return attention.matmul(v).transpose(1, 2).reshape({batch, length, width});
}

}  // namespace edelta::ops
